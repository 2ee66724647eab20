"""Columns of any type become posts as single records would."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.posts.columnar import to_posts
from klda.posts.formats.generic import parse, resolve
from klda.posts.formats.outcome import Row
from klda.posts.schema import POST_SCHEMA, from_batch, to_batch

MOMENT = datetime(2026, 1, 5, 10, tzinfo=UTC)


def converted(table: dict[str, Any], zone: Any = None) -> tuple[list[Any], list[str]]:
    batch = pa.RecordBatch.from_pydict(table)
    posts, bad = to_posts(batch, resolve(tuple(table)), zone)
    assert posts.num_rows + len(bad) == batch.num_rows
    posts.validate(full=True)
    return list(from_batch(posts)), [problem.reason for _, problem in bad]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_timestamps_of_every_unit_and_zone_are_the_same_moment(unit: str, zone: str) -> None:
    time = pa.array([MOMENT, None], type=pa.timestamp(unit, zone))
    posts, bad = converted({"id": ["1", "2"], "time": time, "text": ["a", "b"]})
    assert [post.time for post in posts] == [MOMENT]
    assert bad == ["no time"]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ns"), pa.date32(), pa.date64()])
def test_columns_without_zone_need_one_to_be_stated(kind: pa.DataType) -> None:
    value = date(2026, 7, 5) if pa.types.is_date(kind) else datetime(2026, 7, 5)
    table = {"id": ["1", "2"], "time": pa.array([value, None], type=kind), "text": ["a", "b"]}
    assert converted(table) == ([], ["time without zone", "no time"])
    posts, bad = converted(table, ZoneInfo("Europe/Berlin"))
    assert [post.time for post in posts] == [datetime(2026, 7, 4, 22, tzinfo=UTC)]
    assert bad == ["no time"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_beyond_what_python_can_hold_are_out_of_range(unit: str) -> None:
    time = pa.array([2**63 - 1, -(2**62)]).cast(pa.timestamp(unit, "UTC"))
    assert converted({"id": ["1", "2"], "time": time, "text": ["a", "b"]})[1] == ["time out of range"] * 2
    naive = {"id": ["1", "2"], "time": time.cast(pa.int64()).cast(pa.timestamp(unit)), "text": ["a", "b"]}
    assert converted(naive, UTC)[1] == ["time out of range"] * 2


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.binary(),
        pa.large_binary(),
    ],
)
def test_text_of_every_type_is_text(kind: pa.DataType) -> None:
    text = pa.array([b"caf\xc3\xa9"] if "binary" in str(kind) else ["café"]).cast(kind)
    [post], _ = converted({"id": [17], "time": [MOMENT], "text": text})
    assert (post.id, post.text) == ("17", "café")


def test_invalid_utf8_in_any_column_spoils_only_its_row() -> None:
    broken = pa.array([b"fine", b"\xff\xfe"])
    for column in ("id", "text", "author", "lang", "label"):
        table = {"id": ["1", "2"], "time": [MOMENT] * 2, "text": ["a", "b"]} | {column: broken.view(pa.string())}
        posts, bad = converted(table)
        assert (len(posts), bad) == (1, ["invalid UTF-8"])


def test_counts_beyond_64_bits_and_fractions_are_unknown() -> None:
    counts = {"likes": pa.array([2**64 - 1, 5], type=pa.uint64()), "reposts": [1.5, 2.0], "replies": ["many", "3"]}
    first, second = converted({"id": ["1", "2"], "time": [MOMENT] * 2, "text": ["a", "b"], **counts})[0]
    assert (first.likes, first.reposts, first.replies) == (None, None, None)
    assert (second.likes, second.reposts, second.replies) == (5, 2, 3)


def test_our_own_table_comes_back_unchanged() -> None:
    posts = [
        parsed(id=str(i), repost_of=[None, "", "7"][i], hashtags=["a", "b"][:i], likes=i - 1, label="x")
        for i in range(3)
    ]
    batch = to_batch(posts)
    again, bad = to_posts(batch, resolve(tuple(POST_SCHEMA.names)))
    assert again.equals(batch)
    assert not bad


def parsed(**fields: Any) -> Any:
    record = {"time": MOMENT, "text": "some text", **fields}
    row = parse(record, resolve(tuple(record)))
    assert isinstance(row, Row)
    return row.post()


values = st.none() | st.text(max_size=4) | st.sampled_from(["2026-01-05T10:00:00Z", "12", "1767607200", "true", " "])
numbers = st.none() | st.integers(-(2**63), 2**63 - 1) | st.just(1767607200)
columns = st.lists(values, min_size=5, max_size=5) | st.lists(numbers, min_size=5, max_size=5)


@given(st.dictionaries(st.sampled_from(resolve(())._fields), columns, min_size=1))
def test_a_table_gives_what_its_rows_give_one_by_one(table: dict[str, list[Any]]) -> None:
    table |= {name: [name] * 5 for name in ("id", "text") if name not in table}
    names = resolve(tuple(table))
    batch = pa.RecordBatch.from_pydict(table)
    posts, bad = to_posts(batch, names)
    singly = [parse(record, names) for record in batch.to_pylist()]
    assert list(from_batch(posts)) == [row.post() for row in singly if isinstance(row, Row)]
    assert [(row, b.reason) for row, b in bad] == [
        (i, b.reason) for i, b in enumerate(singly) if not isinstance(b, Row)
    ]
