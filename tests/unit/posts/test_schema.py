from __future__ import annotations

import gc
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from klda.errors import DataError, FormatError, InputError
from klda.posts.schema import PostSink, PostTable, as_batches, from_batch, microseconds, to_batch
from klda.types import Post

TIME = datetime(2026, 1, 5, 12, tzinfo=UTC)
POSTS = [
    Post("1", TIME, "Hello 👍", author="ann", hashtags=("a", "b"), likes=3),
    Post("2", TIME + timedelta(microseconds=1), "", repost_of="", language="en"),
    Post("3", TIME.astimezone(timezone(timedelta(hours=5))), "line\nbreak", followers=10, label="news"),
]


def test_posts_survive_the_way_to_arrow_and_back() -> None:
    assert list(from_batch(to_batch(POSTS))) == POSTS


def test_a_table_can_be_saved_and_mapped(tmp_path: Path) -> None:
    PostTable.of(POSTS).save(tmp_path / "posts.arrow")
    table = PostTable.open(tmp_path / "posts.arrow")
    assert [table[i] for i in range(len(table))] == POSTS


def test_columns_are_taken_at_any_rows() -> None:
    table = PostTable.of(POSTS)
    assert table.texts(np.array([2, 0])) == ["line\nbreak", "Hello 👍"]
    assert table.texts(np.zeros(0, dtype=np.int64)) == []
    np.testing.assert_array_equal(table.counts("likes"), [3, np.nan, np.nan])


def test_columns_are_taken_from_the_chunks_that_hold_the_rows_and_from_no_other() -> None:
    """Joined, the chunks of a large archive would be more than one array of Arrow can hold, which is 2 GB of text."""
    large = pa.array(["x" * 1_000_000] * 100)
    small = pa.array(["ann", None, "bob"])
    table = PostTable(pa.table({"author": pa.chunked_array([small, *[large] * 25, small])}))
    last = len(table) - 1
    assert table.column("author", np.array([last, 0, 1, last - 1, 0])).to_pylist() == ["bob", "ann", None, None, "ann"]
    assert table.column("author", np.array([0, 2, last])).to_pylist() == ["ann", "bob", "bob"]


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "posts.arrow").write_text("hello")
    with pytest.raises(FormatError, match=r"posts\.arrow"):
        PostTable.open(tmp_path / "posts.arrow")


def test_an_iterable_is_read_a_batch_at_a_time() -> None:
    assert [batch.num_rows for batch in as_batches(iter(POSTS), rows=2)] == [2, 1]


def test_a_spilled_table_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sink = PostSink(keep_bytes=1)
    for _ in range(3):
        sink.add(to_batch(POSTS))
    assert len(list(tmp_path.iterdir())) == 1
    table = sink.finish()
    assert list(tmp_path.iterdir()) == [], "so that none is left by a process that is killed, either"
    assert (sink.rows, len(table)) == (9, 9)
    assert [table[i] for i in range(3)] == POSTS


def test_an_abandoned_spill_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sink = PostSink(keep_bytes=1)
    sink.add(to_batch(POSTS))
    del sink
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_time_is_counted_in_microseconds() -> None:
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


def test_a_time_without_a_zone_is_refused_and_not_guessed():
    naive = Post("7", datetime(2026, 1, 5), "text")
    with pytest.raises(DataError, match="post 7: the time 2026-01-05 00:00:00 has no zone"):
        to_batch([naive])
    with pytest.raises(DataError, match="has no zone"):
        microseconds(naive.time)


def test_a_frame_is_to_be_read_first():
    with pytest.raises(InputError, match=r"klda.read_posts\(frame\)"):
        PostTable.of(pa.table({"id": ["1"]}))
