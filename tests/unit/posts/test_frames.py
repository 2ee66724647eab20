"""Frames in memory as sources: of any library, with the same errors as files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
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


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("time", [datetime(2026, 1, 5), "2026-01-05 10:00:00"])
def test_frames_of_every_library_are_told_to_state_the_zone(library: Any, time: object) -> None:
    frame = library({"id": ["1"], "time": [time], "text": ["one"]})
    with pytest.raises(InputError, match=r'have no zone; say which it is, as in timezone="UTC"'):
        read_posts(frame)


COUNTS = {"retweet_count": 3, "like_count": 5, "reply_count": 1, "quote_count": 0}
TWEET = {"id": "1", "created_at": "2026-01-05T10:00:00Z", "text": "RT @b: hi", "author_id": "9"}
REPLY = {"type": "replied_to", "id": "70"}
NESTED: list[dict[str, Any]] = [
    TWEET
    | {"public_metrics": COUNTS, "author": {"username": "ann", "public_metrics": {"followers_count": 10}}}
    | {"referenced_tweets": [REPLY, {"type": "retweeted", "id": "77"}], "entities": {"hashtags": [{"tag": "sun"}]}},
    TWEET
    | {"id": "2", "text": "hi", "public_metrics": COUNTS, "author": None, "referenced_tweets": None, "entities": None},
]
FLAT = [
    TWEET
    | {f"public_metrics.{name}": count for name, count in COUNTS.items()}
    | {"author.username": "ann", "author.public_metrics.followers_count": 10}
    | {"referenced_tweets.retweeted.id": "77", "entities.hashtags": '[{"start": 0, "end": 4, "tag": "sun"}]'},
]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(NESTED),
        pd.DataFrame(NESTED),
        pd.json_normalize(NESTED[:1]),
        pa.Table.from_pylist(NESTED),
        pl.DataFrame(FLAT),
        pd.DataFrame(FLAT),
    ],
    ids=["Polars", "pandas", "normalised", "Arrow", "flat Polars", "flat pandas"],
)
def test_posts_of_x_keep_reposts_and_counts(frame: Any) -> None:
    first, *others = read_posts(frame)
    assert (first.repost_of, first.reposts, first.likes, first.replies, first.quotes) == ("77", 3, 5, 1, 0)
    assert (first.author, first.followers, first.hashtags) == ("ann", 10, ("sun",))
    assert [(post.repost_of, post.reposts) for post in others] == [(None, 3)] * len(others)


def test_a_nested_table_on_disk_is_read_like_the_frame(tmp_path: Path) -> None:
    pl.DataFrame(NESTED).write_parquet(tmp_path / "nested.parquet")
    pl.DataFrame(FLAT).write_csv(tmp_path / "flat.csv")
    nested, flat = (list(read_posts(tmp_path / name)) for name in ("nested.parquet", "flat.csv"))
    assert nested == list(read_posts(pl.DataFrame(NESTED)))
    assert flat == nested[:1]
