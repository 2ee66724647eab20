"""Parquet → post batches, column by column and never a whole file at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from klda.posts.formats.generic import Columns
from klda.posts.formats.outcome import Bad
from klda.posts.reasons import DAMAGED

BATCH_ROWS = 32_768
_BUFFER = 1 << 20  # column chunks are read through buffers of this size instead of whole
_DAMAGE = (OSError, ValueError, pa.ArrowException)  # the library tells damage in all of these ways


def parquet_columns(path: Path) -> list[str] | None:
    """The names of the file's columns; None when it is damaged."""
    try:
        names: list[str] = pq.read_schema(path).names
    except _DAMAGE:
        return None
    return names


def parquet_batches(path: Path, columns: Columns) -> Iterator[tuple[float, pa.RecordBatch | Bad]]:
    """The needed columns, a batch of rows at a time, each with how much of the file is read; at damage, what it is."""
    done = 0
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
            total = file.metadata.num_rows
            wanted = sorted({name for name in columns if name is not None})
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
                done += batch.num_rows
                yield done / max(total, 1), batch
    except _DAMAGE as error:
        yield 1.0, Bad(DAMAGED, value=error)
