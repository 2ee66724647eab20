"""The time from files to advice, over the time to prepare the same posts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from benchmarks import advice

START = datetime(2026, 1, 5, tzinfo=UTC)


def test_the_quickest_advice_is_held_against_the_quickest_preparation_of_the_same_posts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weeks = [{"id": str(week), "time": START + timedelta(weeks=week), "text": "health"} for week in range(13)]
    pl.DataFrame(weeks).write_parquet(tmp_path / "archive.parquet")
    took = {"prepare": iter([3.0, 2.0]), "recommend": iter([8.0, 12.0])}
    read: dict[str, set[int]] = {}

    def seconds(command: str, posts: Path, *options: str | Path) -> float:
        assert ("--report" in options) == (command == "recommend")
        read.setdefault(command, set()).add(len(pl.read_parquet(posts)))
        return next(took[command])

    monkeypatch.setattr(advice, "seconds", seconds)
    monkeypatch.setattr("sys.argv", ["advice", str(tmp_path / "archive.parquet"), "--from", "2026-01-12"])
    advice.main()
    found = json.loads(capsys.readouterr().out)
    assert read == {"prepare": {11}, "recommend": {11}}
    assert found == {"posts": 11, "seconds_prepare": [3.0, 2.0], "seconds_recommend": [8.0, 12.0], "over_prepare": 4.0}
