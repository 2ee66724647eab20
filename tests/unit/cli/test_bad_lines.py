from __future__ import annotations

import json
from pathlib import Path

import pytest

from klda.cli.archives import open_replay
from klda.cli.inputs import Reading, open_corpus
from klda.errors import DataError
from klda.evaluation.subjects import Subject
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, silent

HOSPITAL = KeywordSet.of("hospital")


def write(file: Path, *, good: int, bad: int) -> Path:
    post = {"text": "the hospital", "created_at": "2026-01-05T00:00:00Z"}
    posts = [{"id": str(number), **post} for number in range(good)]
    file.write_text("\n".join([*map(json.dumps, posts), *["[not json]"] * bad]) + "\n")
    return file


def recommend(file: Path) -> None:
    open_corpus([file], HOSPITAL, Reading({}), TextSettings(min_count=1), "7d", silent)


def backtest(file: Path) -> None:
    subjects = [Subject("health", HOSPITAL)]
    open_replay([file], subjects, Reading({}), "7d", work=file.parent / "work", training=None, progress=silent)


@pytest.mark.parametrize("command", [recommend, backtest])
def test_bad_lines_are_told_with_their_places(command, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "posts.jsonl", good=9, bad=7)
    command(file)
    counts, *places = capsys.readouterr().err.splitlines()
    assert counts.startswith("7 of 16 lines could not be used: ")
    assert [place.partition(": ")[0].strip() for place in places[:5]] == [f"{file}, line {n}" for n in range(10, 15)]
    assert places[5:] == ["  … and 2 more"]


@pytest.mark.parametrize("command", [recommend, backtest])
def test_nothing_is_said_where_every_line_is_good(command, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(write(tmp_path / "posts.jsonl", good=9, bad=0))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", [recommend, backtest])
def test_bad_lines_are_told_where_no_good_one_is_left(
    command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DataError):
        command(write(tmp_path / "posts.jsonl", good=0, bad=2))
    assert "posts.jsonl, line 1" in capsys.readouterr().err
