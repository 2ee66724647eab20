"""A frame in memory, of pandas, Polars or Arrow, read as if it were a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from klda.errors import InputError
from klda.posts.filetypes import FileSource, FileType, no_column
from klda.posts.formats.generic import Columns, Mapped, missing, resolve
from klda.posts.formats.outcome import Bad
from klda.posts.formats.times import DateReader, parse_time
from klda.posts.nested import flat
from klda.posts.parquet import BATCH_ROWS, column_dates
from klda.posts.reasons import TIME_WITHOUT_ZONE

NAME = Path("the frame")
"""What bad rows are told to be in."""


@runtime_checkable
class Frame(Protocol):
    """A table that hands itself on by Arrow's own protocol, as those of pandas, Polars and Arrow do."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""


def frame_source(
    frame: Frame, mapping: Mapped = (), zone: tzinfo | None = None, dates: DateReader | None = None
) -> FileSource:
    """What the reader needs to know of a frame, its columns found by their usual names or by the mapping.

    Times without a zone are refused unless `zone` tells it: a frame has all of them so, and nothing would be read.
    """
    try:
        table = flat(pa.table(frame))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{NAME} cannot be read ({error}); give each of its columns one type") from error
    columns = resolve(tuple(table.column_names), mapping)
    if missing(columns, table.column_names):
        raise no_column(NAME, table.column_names, mapping)
    assert columns.time is not None, "a column for the time is there"
    dates = dates or column_dates(table.column(columns.time), f"{NAME}, column {columns.time!r}")
    if zone is None and _without_zone(table.column(columns.time), dates):
        raise InputError(
            f'{NAME}: the times in column {columns.time!r} have no zone; say which it is, as in timezone="UTC"'
        )
    return FileSource(NAME, table.num_rows, FileType.FRAME, columns, table, dates)


def _without_zone(times: pa.ChunkedArray, dates: DateReader | None) -> bool:
    """Whether the first time of a column states no zone."""
    first = next((value for value in times if value.is_valid), None)
    if first is None:
        return False
    if pa.types.is_timestamp(first.type):
        return first.type.tz is None
    found = parse_time(first.as_py(), dates=dates)
    return isinstance(found, Bad) and found.reason == TIME_WITHOUT_ZONE


def frame_batches(table: pa.Table, columns: Columns) -> Iterator[tuple[float, pa.RecordBatch]]:
    """The needed columns, a batch of rows at a time, each with how much of the frame is read."""
    done = 0
    wanted = table.select(sorted({name for name in columns if name is not None}))
    for batch in wanted.to_batches(max_chunksize=BATCH_ROWS):
        done += batch.num_rows
        yield done / table.num_rows, batch
