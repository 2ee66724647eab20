"""Frames in memory as sources: of any library, with the same errors as files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from klda import read_posts
from klda.errors import InputError

ROWS: dict[str, list[Any]] = {
    "id": ["1", "2", "2", "4"],
    "created_at": [datetime(2026, 1, 5, tzinfo=UTC)] * 4,
    "words": ["one", "two", "again", None],
    "likes": [1, None, 3, 4],
}
FRAMES = {
    "pandas": pd.DataFrame(ROWS),
    "categories": pd.DataFrame(ROWS).astype({"words": "category"}),
    "Polars": pl.DataFrame(ROWS),
    "Arrow": pa.table(ROWS),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_read_like_a_file(name: str) -> None:
    reader = read_posts(FRAMES[name], mapping={"text": "words"})
    assert [(post.id, post.text, post.likes) for post in reader] == [("1", "one", 1), ("2", "two", None)]
    report = reader.report
    assert (report.lines, report.duplicates, dict(report.bad)) == (4, 1, {"no text": 1})
    assert str(report.examples[0]).startswith("the frame, line 4: no text in field 'text'")
    assert len(list(reader)) == 2, "each pass reads it anew"


def test_a_frame_without_the_columns_says_which_and_how_to_name_them() -> None:
    with pytest.raises(InputError, match=r"the frame: no column for text among .*--map text="):
        read_posts(FRAMES["pandas"])


def test_a_column_of_several_types_is_told() -> None:
    mixed = pd.DataFrame({"id": [1, "a"], "text": ["x", "y"], "time": [datetime(2026, 1, 5, tzinfo=UTC)] * 2})
    with pytest.raises(InputError, match=r"the frame cannot be read .* column id"):
        read_posts(mixed)


def test_an_empty_frame_has_no_posts() -> None:
    assert list(read_posts(pa.table(ROWS).slice(0, 0), mapping={"text": "words"})) == []


@pytest.mark.parametrize("times", [datetime(2026, 1, 5), "2026-01-05 10:00:00"])
def test_a_frame_whose_times_state_no_zone_is_refused_unless_told_which(times: object) -> None:
    frame = pl.DataFrame({"id": ["1"], "time": [times], "text": ["one"]})
    with pytest.raises(InputError, match=r"column 'time' have no zone; say which it is"):
        read_posts(frame)
    (post,) = read_posts(frame, timezone="UTC")
    assert post.time.date().isoformat() == "2026-01-05"
