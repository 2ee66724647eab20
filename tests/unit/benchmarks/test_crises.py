"""Streams of crises, made from an archive of labelled tweets."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks import crises

START = datetime(2013, 6, 20, tzinfo=UTC)


def _posts(story: str, label: str, text: str, n: int, hours: float) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{story}{label}{i}",
            "time": START + timedelta(hours=i * hours / n),
            "text": f"{text} {i}",
            "label": label,
            "story": story,
        }
        for i in range(n)
    ]


@pytest.fixture
def archive() -> pl.DataFrame:
    return pl.DataFrame(
        _posts("2013_Alberta_floods", "Related and informative", "flood in calgary", 120, 24)
        + _posts("2013_Alberta_Floods", "off-topic", "lunch in toronto", 40, 24)
        + _posts("2013_Singapore_haze", "Related and informative", "haze over singapore", 60, 48)
        + _posts("2012_Italy_earthquakes", "Related and informative", "terremoto", 10, 24)
    )


def test_an_event_is_seen_among_the_posts_of_its_days(archive: pl.DataFrame) -> None:
    found = dict(crises.events(archive, None))
    assert set(found) == {"alberta_floods", "singapore_haze"}  # one event under two spellings, none in Italian
    stream = found["alberta_floods"]
    assert (stream["label"] == "alberta_floods").sum() == 120
    assert stream.filter(pl.col("label") == "other")["text"].str.contains("haze").any()
    assert stream["time"].is_sorted()


def test_events_with_many_posts_are_those_that_were_chosen_by(
    archive: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crises, "MANY", 100)
    assert [name for name, _ in crises.events(archive, "chosen")] == ["alberta_floods"]
    assert [name for name, _ in crises.events(archive, "other")] == ["singapore_haze"]


def test_the_loops_start_from_the_words_of_the_events_first_posts(
    archive: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "crises.parquet"
    archive.write_parquet(path)
    monkeypatch.setattr(
        "sys.argv", ["crises", str(path), "--policies", "static", "--work", str(tmp_path), "--jobs", "1"]
    )
    monkeypatch.setattr(crises, "N_WINDOWS", 4)
    crises.main()
    found = json.loads(capsys.readouterr().out)["subjects"]["alberta_floods"]["static"]
    assert found["recall"] == pytest.approx(1.0)
    assert found["precision"] == pytest.approx(1.0)


def test_the_default_is_run_without_vectors_too(
    archive: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, ...]] = []

    def noted(name: str, stream: pl.DataFrame, policies: tuple[str, ...], *_: object) -> list[dict[str, Any]]:
        asked.append(policies)
        return []

    archive.write_parquet(tmp_path / "crises.parquet")
    monkeypatch.setattr(crises, "loops", noted)
    monkeypatch.setattr("sys.argv", ["crises", str(tmp_path / "crises.parquet"), "--policies", "klda,static"])
    monkeypatch.chdir(tmp_path)
    crises.main()
    assert set(asked) == {("klda", "static", "klda~without vectors")}
    assert json.loads(capsys.readouterr().out)["closed_loop_f1"] is None
