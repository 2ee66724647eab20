"""Parquet → post batches, column by column and never a whole file at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from klda.posts.formats.generic import Columns
from klda.posts.formats.outcome import Bad
from klda.posts.formats.times import DateReader, reader_of
from klda.posts.nested import REFERENCES, REPOSTED, flat, flat_batch
from klda.posts.reasons import DAMAGED

BATCH_ROWS = 32_768
_BUFFER = 1 << 20  # column chunks are read through buffers of this size instead of whole
_DAMAGE = (OSError, ValueError, pa.ArrowException)  # the library tells damage in all of these ways


def parquet_columns(path: Path) -> list[str] | None:
    """The names of the file's columns, with dotted names for what is nested; None when it is damaged."""
    try:
        names: list[str] = flat(pq.read_schema(path).empty_table()).column_names
    except _DAMAGE:
        return None
    return names


def parquet_batches(path: Path, columns: Columns) -> Iterator[tuple[float, pa.RecordBatch | Bad]]:
    """The needed columns, a batch of rows at a time, each with how much of the file is read; at damage, what it is."""
    done = 0
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
            total = file.metadata.num_rows
            own = file.schema_arrow.names
            needed = {name for name in columns if name is not None}
            wanted = sorted({REFERENCES if name == REPOSTED and name not in own else name for name in needed})
            nested = not needed <= set(own)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
                done += batch.num_rows
                yield done / max(total, 1), flat_batch(batch) if nested else batch
    except _DAMAGE as error:
        yield 1.0, Bad(DAMAGED, value=error)


def parquet_dates(path: Path, column: str) -> DateReader | None:
    """What reads the times of a file that has them as text; an error where day and month cannot be told apart."""
    try:
        with pq.ParquetFile(path) as file:
            if column not in file.schema_arrow.names or not _is_text(file.schema_arrow.field(column).type):
                return None
            batches = file.iter_batches(batch_size=BATCH_ROWS, columns=[column])
            return reader_of((value for batch in batches for value in batch.column(0).to_pylist()), str(path))
    except _DAMAGE:
        return None  # told when it is read


def column_dates(times: pa.ChunkedArray, where: str) -> DateReader | None:
    """The same for a column in memory."""
    if not _is_text(times.type):
        return None
    return reader_of((value for chunk in times.iterchunks() for value in chunk.to_pylist()), where)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
