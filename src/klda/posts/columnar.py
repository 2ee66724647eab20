"""Tables (Parquet files and frames) → the post table, one batch at a time.

A column of the expected type is converted as a whole. Values of other columns are converted one by one, by the same
functions as the values of JSON records. So tables and JSON give the same posts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from klda.posts.files import MAX_LINE
from klda.posts.formats.generic import Columns, derived_id
from klda.posts.formats.outcome import (
    DAMAGED,
    INVALID_UTF8,
    NO_ID,
    NO_TEXT,
    NO_TIME,
    NUL_BYTES,
    TIME_OUT_OF_RANGE,
    TIME_WITHOUT_ZONE,
    TOO_LONG,
    Bad,
)
from klda.posts.formats.times import EARLIEST, LATEST, DateReader, parse_time, reader_of
from klda.posts.formats.values import as_count, as_flag, as_label, as_name, as_tags
from klda.posts.schema import POST_SCHEMA

TABLE_ROWS = 32_768
_BUFFER = 1 << 20  # bytes of the buffer for column chunks; otherwise whole chunks are read into memory
_DAMAGE = (OSError, ValueError, pa.ArrowException)  # what the library raises for damaged files
REFERENCES = "referenced_tweets"
REPOSTED = "referenced_tweets.retweeted.id"
"""The id of the reposted post: a column in twarc's tables, an entry of the list of references in nested tables."""

Bools = NDArray[np.bool_]

_STRING, _TIME, _TAGS = (POST_SCHEMA.field(name).type for name in ("id", "time", "hashtags"))
_COUNTS = ("reposts", "likes", "replies", "quotes", "followers", "following", "author_posts", "author_likes")
_WORDY = r"[^\s\v\x1c-\x1f\x{85}\p{Z}]"  # anything but the characters for which str.isspace is true
_TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EPOCH = datetime(1970, 1, 1)


def to_posts(
    batch: pa.RecordBatch, columns: Columns, zone: tzinfo | None = None, dates: DateReader | None = None
) -> tuple[pa.RecordBatch, list[tuple[int, Bad]]]:
    """The rows that are posts, in `POST_SCHEMA`; and the position of each bad row, with the reason.

    >>> rows = pa.RecordBatch.from_pylist([{"id": 1, "time": 1767607200, "text": "Hello"}, {"id": 2}])
    >>> posts, bad = to_posts(rows, Columns(id="id", time="time", text="text"))
    >>> posts.num_rows, bad[0][1].reason
    (1, 'no text')
    """
    table = _Table(batch, columns)
    text, author = table.strings("text", pa.large_string()), table.strings("author")
    time, untimely = _times(table.column("time"), zone, dates)
    posts = pa.RecordBatch.from_arrays(
        [
            table.strings("id") if columns.id is not None else _derived_ids(time, author, text),
            time,
            text,
            author,
            table.strings("language"),
            table.originals(),
            table.tags(),
            *map(table.counts, _COUNTS),
            table.strings("label"),
        ],
        schema=POST_SCHEMA,
    )
    ids = posts.column("id")
    problems = [  # in the same order as in `checked`
        (table.broken, Bad(INVALID_UTF8)),
        (_mask(ids.is_null()), Bad(NO_ID, "id")),
        (_holding_nul(ids), Bad(NUL_BYTES, "id")),
        (~_mask(pc.match_substring_regex(text, _WORDY)), Bad(NO_TEXT, "text")),
        (_holding_nul(text), Bad(NUL_BYTES, "text")),
        (_mask(pc.greater(pc.binary_length(text), MAX_LINE)), Bad(TOO_LONG, "text")),
        *untimely,
    ]
    found: dict[int, Bad] = {}
    for mask, bad in problems:
        for row in np.flatnonzero(mask).tolist():
            found.setdefault(row, bad)
    if found:
        good = np.ones(batch.num_rows, dtype=np.bool_)
        good[list(found)] = False
        posts = posts.filter(pa.array(good))
    return posts, sorted(found.items(), key=lambda item: item[0])


class _Table:
    """Access to a batch by the fields of a post; `broken` marks the rows with text that is not UTF-8."""

    def __init__(self, batch: pa.RecordBatch, columns: Columns) -> None:
        self._batch, self._columns = batch, columns
        self.broken: Bools = np.zeros(batch.num_rows, dtype=np.bool_)

    def column(self, field: str) -> pa.Array:
        """The column for a field; nulls where the file has no such column."""
        name = getattr(self._columns, field)
        if name is None:
            return pa.nulls(self._batch.num_rows)
        column = self._batch.column(self._batch.schema.names.index(name))
        return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column

    def strings(self, field: str, kind: pa.DataType = _STRING, keep_empty: bool = False) -> pa.Array:
        """A column as text; empty values become null."""
        column = self.column(field)
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            column = column.view(pa.string() if pa.types.is_binary(column.type) else pa.large_string())
        if pa.types.is_null(column.type):
            return column.cast(kind)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or _is_view(column.type)):
            return _each(_CONVERT.get(field, as_name), column, kind)
        column = column.cast(kind)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            values = [_decoded(value) for value in column.cast(pa.large_binary()).to_pylist()]
            self.broken |= np.array([value is None for value in values]) & _mask(column.is_valid())
            column = pa.array(values, type=kind)
        empty = pc.equal(pc.binary_length(column), 0)
        if keep_empty or not pc.any(empty).as_py():
            return column
        return pc.if_else(empty, pa.scalar(None, kind), column)

    def counts(self, field: str) -> pa.Array:
        """A column as whole numbers."""
        column = self.column(field)
        if pa.types.is_integer(column.type) or pa.types.is_null(column.type):
            try:
                return column.cast(pa.int64())
            except pa.ArrowInvalid:  # numbers above 2⁶³
                pass
        return _each(as_count, column, pa.int64())

    def tags(self) -> pa.Array:
        """The hashtags of each row, as a list of words."""
        column = self.column("hashtags")
        if pa.types.is_null(column.type):
            nothing = np.zeros(len(column) + 1, dtype=np.int32)
            return pa.ListArray.from_arrays(nothing, pa.array([], type=_STRING))
        return _each(as_tags, column, _TAGS)

    def originals(self) -> pa.Array:
        """The id of the post that each row reposts: null for no repost, empty for an unknown one."""
        known = self.strings("repost_of", keep_empty=self._columns.repost_of == "repost_of")
        flags = self.column("is_repost")
        if pa.types.is_null(flags.type):
            return known
        if not pa.types.is_boolean(flags.type):
            flags = _each(as_flag, flags, pa.bool_())
        unknown = pc.if_else(flags, pa.scalar("", _STRING), pa.scalar(None, _STRING))
        return pc.coalesce(known, unknown)


def _times(column: pa.Array, zone: tzinfo | None, dates: DateReader | None) -> tuple[pa.Array, list[tuple[Bools, Bad]]]:
    """A column as UTC times with nulls for bad values; and for each problem, which rows have it."""
    kind = column.type
    if pa.types.is_date(kind):
        column, kind = column.cast(pa.timestamp("ms")), pa.timestamp("ms")
    if not pa.types.is_timestamp(kind):
        return _parsed_times(_values(column), zone, dates)
    ticks = column.cast(pa.int64()).fill_null(0).to_numpy()
    per_second, missing = _TICKS[kind.unit], _mask(column.is_null())
    inside = (ticks >= EARLIEST // 1_000_000 * per_second) & (ticks < LATEST // 1_000_000 * per_second)
    ticks = np.where(inside, ticks, 0)
    time = ticks // 1_000 if kind.unit == "ns" else ticks * (1_000_000 // per_second)
    if kind.tz is None and zone is None:
        return pa.nulls(len(column), _TIME), [
            (missing, Bad(NO_TIME, "time")),
            (~missing, Bad(TIME_WITHOUT_ZONE, "time")),
        ]
    if kind.tz is None:
        local = [_EPOCH + timedelta(microseconds=value) for value in time.tolist()]
        shown = [value if ok else None for value, ok in zip(local, inside & ~missing, strict=True)]
        time = _parsed_times(shown, zone)[0].cast(pa.int64()).fill_null(0).to_numpy()
    problems = [(missing, Bad(NO_TIME, "time")), (~inside, Bad(TIME_OUT_OF_RANGE, "time"))]
    return pa.array(time, mask=missing | ~inside).cast(_TIME), problems


def _parsed_times(
    values: list[Any], zone: tzinfo | None, dates: DateReader | None = None
) -> tuple[pa.Array, list[tuple[Bools, Bad]]]:
    """The same for values that are not Arrow times; they are parsed one by one."""
    parsed = [parse_time(value, zone, dates) for value in values]
    problems: dict[str, tuple[Bools, Bad]] = {}
    for row, time in enumerate(parsed):
        if isinstance(time, Bad):
            mask, _ = problems.setdefault(time.reason, (np.zeros(len(parsed), dtype=np.bool_), time))
            mask[row] = True
    good = pa.array([None if isinstance(time, Bad) else time for time in parsed], type=pa.int64())
    return good.cast(_TIME), list(problems.values())


def _derived_ids(time: pa.Array, author: pa.Array, text: pa.Array) -> pa.Array:
    times = time.cast(pa.int64()).to_pylist()
    return pa.array(map(derived_id, times, author.to_pylist(), text.to_pylist()), type=_STRING)


def _each(convert: Callable[[object], object], column: pa.Array, kind: pa.DataType) -> pa.Array:
    return pa.array([convert(value) for value in _values(column)], type=kind)


def _values(column: pa.Array) -> list[Any]:
    """The values of a column as Python objects; None for values out of Python's range."""
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        values = [_value(scalar) for scalar in column]
    return values


def _value(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return None


def _no_text(_: object) -> None:
    """None: numbers and nested values are not text."""


_CONVERT: dict[str, Callable[[object], object]] = {"text": _no_text, "label": as_label}


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind))


def _holding_nul(column: pa.Array) -> Bools:
    """Which values hold a zero byte. Zero bytes are rare, so the whole buffer is checked first."""
    data = column.buffers()[2]
    if data is None or np.frombuffer(data, dtype=np.uint8).all():
        return np.zeros(len(column), dtype=np.bool_)
    return _mask(pc.match_substring(column, "\0"))


def _mask(column: pa.Array) -> Bools:
    """A boolean column as an array; null is False."""
    mask: Bools = column.fill_null(False).to_numpy(zero_copy_only=False)
    return mask


def parquet_columns(path: Path) -> list[str] | None:
    """The column names of a file, with dotted names for nested columns; None when the file is damaged."""
    try:
        names: list[str] = flat(pq.read_schema(path).empty_table()).column_names
    except _DAMAGE:
        return None
    return names


def parquet_batches(path: Path, columns: Columns) -> Iterator[tuple[float, pa.RecordBatch | Bad]]:
    """Batches of the needed columns, each with the share of the file read so far; `Bad` where the file is damaged."""
    done = 0
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
            total = file.metadata.num_rows
            own = file.schema_arrow.names
            needed = {name for name in columns if name is not None}
            wanted = sorted({REFERENCES if name == REPOSTED and name not in own else name for name in needed})
            nested = not needed <= set(own)
            for batch in file.iter_batches(batch_size=TABLE_ROWS, columns=wanted):
                done += batch.num_rows
                yield done / max(total, 1), flat_batch(batch) if nested else batch
    except _DAMAGE as error:
        yield 1.0, Bad(DAMAGED, value=error)


def parquet_dates(path: Path, column: str) -> DateReader | None:
    """The reader of a text column of times; None for other columns. InputError where day and month are ambiguous."""
    try:
        with pq.ParquetFile(path) as file:
            if column not in file.schema_arrow.names or not _is_text(file.schema_arrow.field(column).type):
                return None
            batches = file.iter_batches(batch_size=TABLE_ROWS, columns=[column])
            return reader_of((value for batch in batches for value in batch.column(0).to_pylist()), str(path))
    except _DAMAGE:
        return None  # `parquet_batches` reports it


def column_dates(times: pa.ChunkedArray, where: str) -> DateReader | None:
    """The same as `parquet_dates`, for a column in memory."""
    if not _is_text(times.type):
        return None
    return reader_of((value for chunk in times.iterchunks() for value in chunk.to_pylist()), where)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def flat(table: pa.Table) -> pa.Table:
    """The table with one column for each nested field. Existing columns of that name are kept.

    >>> flat(pa.table({"public_metrics": [{"retweet_count": 3}]})).column_names
    ['public_metrics.retweet_count']
    """
    while any(pa.types.is_struct(field.type) for field in table.schema):
        nested = [
            name for name, field in zip(table.column_names, table.schema, strict=True) if pa.types.is_struct(field.type)
        ]
        inside = table.select(nested).flatten()
        table = table.drop_columns(nested)
        for name, column in zip(inside.column_names, inside.columns, strict=True):
            if name not in table.column_names:
                table = table.append_column(name, column)
    if REFERENCES in table.column_names and REPOSTED not in table.column_names:
        column = table.column(REFERENCES)
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            table = table.append_column(REPOSTED, pa.array(map(_reposted, column.to_pylist()), type=pa.string()))
    return table


def flat_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same as `flat`, for a batch of rows."""
    table = flat(pa.Table.from_batches([batch])).combine_chunks()
    columns = [column.chunk(0) if column.num_chunks else pa.array([], type=column.type) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _reposted(references: object) -> str | None:
    """The id of the reposted post, from the list of references of a repost."""
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict) and reference.get("type") == "retweeted":
            return str(reference.get("id") or "") or None
    return None
