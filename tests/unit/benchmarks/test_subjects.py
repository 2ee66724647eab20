"""Subjects made from an archive's labels."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from benchmarks.subjects import FEWEST_HITS, GROUPS, TUNE, first_list, main


def test_the_first_list_holds_the_words_that_tell_the_subject_best() -> None:
    relevant = np.arange(40) < 20
    sure, common, rare = relevant, np.ones(40, dtype=bool), np.arange(40) < FEWEST_HITS - 1
    outside = ~relevant
    words = csr_array(np.column_stack([common, rare, outside, sure]).astype(float))
    names = np.array(["common", "rare", "outside", "sure"])
    assert first_list(words, names, relevant) == ["sure", "common"]


def test_half_of_the_groups_are_for_tuning_and_no_subreddit_is_in_two() -> None:
    assert set(TUNE.split()) <= set(GROUPS)
    assert len(TUNE.split()) == len(GROUPS) // 2
    everyone = [name for group in GROUPS.values() for name in group.split()]
    assert len(everyone) == len(set(everyone))


def test_a_narrow_archive_holds_the_posts_of_its_subjects_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = datetime(2013, 2, 11, tzinfo=UTC)
    posts = [
        {"id": f"{label}{i}", "time": start + timedelta(hours=i), "text": f"{word} number {i}", "label": label}
        for label, word in (("WWE", "wrestler"), ("cars", "engine"), ("elsewhere", "lunch"))
        for i in range(12)
    ]
    archive, narrow, subjects = tmp_path / "all.parquet", tmp_path / "narrow.parquet", tmp_path / "subjects.json"
    pl.DataFrame(posts).write_parquet(archive)
    given = ["--narrow", "wrestling,cars", "--to", str(narrow), "--out", str(subjects)]
    monkeypatch.setattr("sys.argv", ["subjects", str(archive), *given])
    monkeypatch.setattr("benchmarks.subjects.WEEKS", (0,))
    main()
    assert json.loads(capsys.readouterr().out)["subjects"] == 2
    assert set(pl.read_parquet(narrow)["label"]) == {"WWE", "cars"}
    lists = {found["name"]: found["keywords"] for found in json.loads(subjects.read_text())["subjects"]}
    assert lists["wrestling"][0] == "wrestler"
    assert lists["cars"][0] == "engine"
