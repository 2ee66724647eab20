"""What the benchmark of scale reckons from its points, and how it sees memory."""

from __future__ import annotations

import os

import pytest

from benchmarks.scale import linearity, summary
from benchmarks.watching import tree_megabytes


def point(posts: int, seconds: float, peak: int) -> dict:
    parts = {"prepare": seconds / 2, "load": 0.0, "start": 0.0, "train": seconds / 2}
    return {
        "posts": posts,
        "seconds": parts,
        "total_seconds": seconds,
        "disk_megabytes": posts // 1000,
        "peak_memory_mb": peak,
    }


def test_linearity_is_the_largest_growth_of_the_time_of_a_post():
    points = [point(100, 20.0, 1), point(1_000, 100.0, 1), point(10_000, 1_500.0, 1)]
    assert linearity(points) == 1.5
    assert linearity(points[:2]) == 0.5
    assert linearity(points[:1]) is None


def test_figures_follow_from_points(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    runs = [{"iteration_milliseconds": ms, "gradient_megabytes": 10.0, "peak_memory_mb": 9000} for ms in (50, 30, 26)]
    found = summary({"documents": [point(100_000, 20.0, 700), point(1_000_000, 180.0, 900)], "ray": runs})
    assert (found["linearity"], found["peak_memory_mb"], found["ray_speedup"]) == (0.9, 900, 1.67)
    assert found["communication"]["communication_milliseconds_a_step"] == 4
    assert found["cost"]["core_hours"] == {"prepare": 50, "train": 25}
    assert found["cost"]["dollars"] == 4
    assert found["cost"]["binds"] == "disk"
    assert found["cost"]["network_milliseconds_a_step_at_most"] == 16.0


def test_memory_is_that_of_a_process_and_all_below_it():
    before = tree_megabytes(os.getpid())
    held = bytearray(os.urandom(1 << 20) * 64)
    assert tree_megabytes(os.getpid()) - before == pytest.approx(64, abs=8)
    assert len(held) == 64 << 20
    assert tree_megabytes(2**22 + 1) == 0.0
