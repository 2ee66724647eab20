"""What a file may unpack to: so much, and not many times its own size. What is more could fill memory and disk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from klda.errors import InputError
from klda.posts.columnar import TABLE_ROWS
from klda.posts.files import CHUNK, opened, unpacked
from klda.posts.formats.generic import resolve
from klda.posts.input_types import FileType, file_type

MOST_UNPACKED = 8_000_000_000
"""Bytes that a packed file may unpack to."""
MOST_TIMES = 200
"""How many times its own size it may unpack to; text packs to about a tenth."""
MOST_ROWS = 20_000_000
"""Rows of a Parquet file: a few bytes can stand for any number of them."""
MOST_VALUES = 5 * MOST_ROWS
"""Values of a column, which has more than rows where each row holds a list."""
MOST_AT_ONCE = 1_000_000_000
"""Bytes of rows that are read at once."""
_BUFFER = 1 << 20


def check_size(path: Path, most: int = MOST_UNPACKED, times: int = MOST_TIMES) -> None:
    """Refuses a file that unpacks to too much; it stops unpacking as soon as that is clear."""
    size, seen = path.stat().st_size, 0
    limit = min(most, max(times * size, 1_000_000))
    with opened(path) as stream:
        if stream.packed:
            try:
                while piece := stream.read(CHUNK):
                    seen += len(piece)
                    if seen > limit:
                        raise InputError(f"the file unpacks to more than {limit:,} bytes; unpack it and send a part")
            except OSError:
                return  # damaged: reading it will tell
    if file_type(path) is FileType.PARQUET:
        with unpacked(path) as plain:
            _check_parquet(plain, limit)


def _check_parquet(path: Path, limit: int) -> None:
    try:
        facts = pq.read_metadata(path)
        fits = _claims_to_fit(facts, limit) and _fits(path, facts, limit)
    except (pa.ArrowException, OSError, ValueError):
        return  # damaged: reading it will tell
    if not fits:
        raise InputError(f"the {facts.num_rows:,} rows of the file unpack to too much; send a part of it")


def _claims_to_fit(facts: pq.FileMetaData, limit: int) -> bool:
    """Whether it is as small as it says; values of a fixed length count as often as they occur."""
    groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
    fixed = sum(max(facts.schema.column(i).length, 0) for i in range(len(facts.schema)))
    values = (sum(group.column(i).num_values for group in groups) for i in range(facts.num_columns))
    size = fixed * facts.num_rows + sum(group.total_byte_size for group in groups)
    return facts.num_rows <= MOST_ROWS and max(values, default=0) <= MOST_VALUES and size <= limit


def _fits(path: Path, facts: pq.FileMetaData, limit: int) -> bool:
    """Whether the columns of posts fit when every row holds its own text: the file may hold it once for all of them."""
    wanted = [name for name in resolve(tuple(facts.schema.to_arrow_schema().names), ()) if name is not None]
    leaves = [facts.schema.column(i) for i in range(len(facts.schema))]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    total = 0
    with pq.ParquetFile(path, read_dictionary=texts, buffer_size=_BUFFER) as file:
        for batch in file.iter_batches(batch_size=TABLE_ROWS, columns=wanted):
            size = sum(map(_size, batch.columns))
            total += size
            if total > limit or size > MOST_AT_ONCE:
                return False
    return True


def _size(column: pa.Array) -> int:
    """Bytes that a column takes without a dictionary."""
    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = column.flatten()
    if not isinstance(column, pa.DictionaryArray):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)
