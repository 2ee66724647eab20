"""What the benchmark of scale reckons from its points, how it keeps them, and how it sees memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scale import elapsed, linearity, once, summary
from benchmarks.scale_cost import BILLION, CORES, fitted
from benchmarks.watching import tree_megabytes

Point = dict[str, Any]


def point(posts: int, seconds: float, peak: int = 500) -> Point:
    """A point at which half of the time was preparation, a tenth of it reading, and half training."""
    parts = {"prepare": seconds / 2, "load": 0.0, "start": 0.0, "train": seconds / 2}
    return {
        "posts": posts,
        "documents": posts // 5,
        "seconds": parts,
        "processor_seconds": parts,
        "reading_seconds": seconds / 20,
        "disk_megabytes": posts / 1000,
        "peak_memory_mb": peak,
    }


def test_linearity_is_the_most_that_the_time_of_a_post_grows_beyond_the_start():
    start, small, middle, large = point(0, 10.0), point(100, 30.0), point(1_000, 110.0), point(10_000, 1_510.0)
    assert linearity([start, small, middle, large], elapsed) == 1.5
    assert linearity([start, small, large], elapsed) == 0.75
    assert linearity([start, middle, large], elapsed, start=True) == pytest.approx(1.373)
    assert linearity([start, small], elapsed) is None
    assert linearity([], elapsed) is None


def test_a_cost_is_fitted_as_a_start_and_so_much_a_post():
    points = [{"posts": n, "taken": 3 + 0.002 * n} for n in (1_000, 100_000, 1_000_000)]
    assert fitted(points, lambda one: one["taken"]) == pytest.approx((3, 0.002))
    late = [{"posts": n, "taken": 0.002 * n - 1} for n in (1_000, 100_000)]
    assert fitted(late, lambda one: one["taken"])[0] == 0  # nothing starts before it begins


def test_figures_follow_from_points():
    runs = [
        {
            "iteration_milliseconds": step,
            "communication_milliseconds": speaking,
            "gradient_megabytes": 10.0,
            "peak_memory_mb": 9000,
            "batch": 64,
        }
        for step, speaking in ((50, 0), (30, 10), (19, 0))
    ]
    sizes = [(1_000, 0.2), (100_000, 20.0), (1_000_000, 200.0)]
    found = summary({"documents": [point(n, seconds, n // 1000) for n, seconds in sizes], "ray": runs})
    assert (found["linearity"], found["peak_memory_mb"], found["ray_speedup"]) == (1.0, 1000, 1.67)
    assert found["communication"][-1]["communication_milliseconds_a_step"] == 10
    cost = found["cost"]
    one_stage = 1e-4 * BILLION / 3600  # core hours
    assert cost["core_hours"] == pytest.approx({"prepare": one_stage, "join": 0, "train": one_stage}, abs=0.01)
    assert cost["one_machine"]["hours"] == pytest.approx(one_stage + one_stage / 10, abs=0.01)
    assert cost["one_machine"]["binds"] == "the process that trains"
    share = 20 / (20 + 10 + 16)  # ten megabytes there and back at 1,250 a second are 16 ms
    assert cost["ray"]["hours_of_resources"]["all cores, training"] == pytest.approx(
        one_stage / CORES / share, abs=0.01
    )
    assert cost["training_memory_gigabytes"] == 5.0
    assert cost["ray"]["binds"] == "all cores, training"
    assert cost["ray"]["hours"] == pytest.approx(one_stage / CORES * (1 + 1 / share), abs=0.02)
    assert cost["ray"]["hours_of_resources"]["disk"] == pytest.approx(4 * 1_000_000 / 500 / 3600, abs=0.01)


def test_a_point_that_the_folder_has_is_not_measured_again(tmp_path: Path):
    wanted = {"kind": "documents", "posts": 10, "folder": "anywhere"}
    measured: list[int] = []

    def measure() -> Point:
        measured.append(1)
        return {"seconds": 2.5}

    assert [once(wanted, tmp_path, measure) for _ in range(2)] == [{"seconds": 2.5}] * 2
    once(wanted | {"posts": 11}, tmp_path, measure)
    assert len(measured) == 2


def test_memory_is_that_of_a_process_and_all_below_it():
    """Asked of a process of its own: what other tests left running here comes and goes."""
    program = (
        "import os; from benchmarks.watching import tree_megabytes as held; before = held(os.getpid()); "
        "block = bytearray(os.urandom(1 << 20) * 64); print(held(os.getpid()) - before)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(run.stdout) == pytest.approx(64, abs=8)
    assert tree_megabytes(2**22 + 1) == 0.0
