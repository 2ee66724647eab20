"""Reading stored posts, and exporting them to files."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError
from numpy.typing import NDArray

from klda.errors import SettingError, StoreError
from klda.posts.schema import BATCH_ROWS, POST_SCHEMA, PostTable
from klda.store.delta.rows import ROW_SCHEMA

EXPORTED = pa.schema([*POST_SCHEMA, ROW_SCHEMA.field("keywords"), ROW_SCHEMA.field("window")])
"""The columns of exported files."""


@dataclass(frozen=True)
class StoredPosts:
    """The posts of some windows at one version of the table: later commits do not change them."""

    dataset: ds.Dataset
    place: str
    """The name of the table in errors."""

    def __len__(self) -> int:
        with guarded(self.place, "be read"):
            return int(self.dataset.count_rows())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Batches of the posts in `POST_SCHEMA`, a few thousand rows each."""
        return self.rows(POST_SCHEMA)

    def rows(self, schema: pa.Schema = ROW_SCHEMA) -> Iterator[pa.RecordBatch]:
        """Batches of the columns of a schema, a few thousand rows each."""
        with guarded(self.place, "be read"):
            for batch in self.dataset.to_batches(columns=schema.names, batch_size=BATCH_ROWS):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch]).cast(schema).combine_chunks().to_batches()[0]

    def where(self, condition: pc.Expression, columns: Sequence[str]) -> pa.Table:
        """These columns of the rows that meet a condition on them.

        The condition is checked after reading. Delta rewrites files with another string type than the table's, and
        PyArrow cannot compare it with the minimum and maximum in the log, which it would use before reading.
        """
        schema = pa.schema([ROW_SCHEMA.field(name) for name in columns])
        found = (pa.Table.from_batches([batch]).filter(condition) for batch in self.rows(schema))
        return pa.concat_tables([schema.empty_table(), *found])

    def table(self) -> PostTable:
        """All posts in memory."""
        return PostTable.of(self)


Writer = Callable[[StoredPosts, Path], int]
"""Writes posts to a file, and returns their number."""


def export(posts: StoredPosts, path: Path, others: Mapping[str, Writer] | None = None) -> int:
    """The number of posts written to a `.parquet` or `.jsonl` file, which `read_posts` can read.

    The file gets its name when it is complete. `others` holds writers for other file endings.
    """
    writers = {".parquet": _write_parquet, ".jsonl": _write_json_lines} | dict(others or {})
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise SettingError(f"{path}: posts are exported as {' or '.join(writers)}; give the file one of these endings")
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        written = writer(posts, beside)
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error}); nothing was exported") from error
    finally:
        beside.unlink(missing_ok=True)
    return written


def _write_parquet(posts: StoredPosts, path: Path) -> int:
    written = 0
    with pq.ParquetWriter(path, EXPORTED, compression="zstd") as writer:
        for batch in posts.rows(EXPORTED):
            writer.write_batch(batch)
            written += batch.num_rows
    return written


def _write_json_lines(posts: StoredPosts, path: Path) -> int:
    written = 0
    with path.open("wb") as file:
        for batch in posts.rows(EXPORTED):
            for row in batch.to_pylist():
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))
            written += batch.num_rows
    return written


@contextmanager
def guarded(place: str, action: str) -> Iterator[None]:
    """Raises errors of disks and services as StoreError, with advice.

    On a full disk a thread of Delta may panic. It then prints its own trace, which cannot be suppressed here, and
    raises an error that is not an `Exception`.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, DeltaError | OSError | pa.ArrowException) and not _is_panic(error):
            raise
        reason = " ".join(str(error).split())
        advice = "free space on the disk" if "No space left" in reason else "fix the cause"
        raise StoreError(
            f"{place}: the posts cannot {action} ({reason}); {advice} and start again; committed posts are kept"
        ) from error


def _is_panic(error: BaseException) -> bool:
    """Whether an error is a panic of a Rust library; its class cannot be imported."""
    return type(error).__name__ == "PanicException" and type(error).__module__ == "pyo3_runtime"


class RecentIds:
    """The newest ids, up to a number; older ones are forgotten.

    An id is kept as a digest of 64 bits in an array of fixed size, so memory does not grow. With 100,000 ids, a new id
    is taken for a known one once in 10¹⁴ times. Nobody can cause this on purpose: each process has its own key.

    >>> recent = RecentIds(2)
    >>> recent.add(["a", "b", "c"])
    >>> recent.fresh(pa.array(["a", "b", "d", "d"])).to_pylist()
    [True, False, True, False]
    """

    def __init__(self, most: int) -> None:
        self._key = secrets.token_bytes(16)
        self._ring: NDArray[np.uint64] = np.zeros(most, dtype=np.uint64)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._ring))

    def add(self, ids: Iterable[str]) -> None:
        """Remembers stored ids."""
        new = self._digests(ids)[-len(self._ring) :]
        self._ring[(self._added + np.arange(len(new))) % len(self._ring)] = new
        self._added += len(new)

    def fresh(self, ids: pa.Array | pa.ChunkedArray, again: Iterable[str] = ()) -> pa.Array:
        """Which ids are new: not remembered and not repeated here. Ids in `again` count as new although remembered."""
        digests = self._digests(ids.to_pylist())
        new = np.zeros(len(digests), dtype=np.bool_)
        new[np.unique(digests, return_index=True)[1]] = True
        return pa.array(new & (~np.isin(digests, self._ring[: len(self)]) | np.isin(digests, self._digests(again))))

    def _digests(self, ids: Iterable[str]) -> NDArray[np.uint64]:
        encoded = (name.encode("utf-8", "surrogatepass") for name in ids)
        joined = b"".join(blake2b(name, digest_size=8, key=self._key).digest() for name in encoded)
        return np.frombuffer(joined, dtype=np.uint64)


def newest_ids(stored: ds.Dataset, source: str, sample: bool, last: int, most: int) -> list[str]:
    """The ids in the newest batches of a source up to `last`, oldest first; `most` of them or more, if there are."""
    reach = 64
    while True:
        newest = (pc.field("sample") == sample) & (pc.field("batch") > last - reach)
        found = stored.to_table(columns=["id", "batch", "source"], filter=newest)
        found = found.filter(pc.equal(found.column("source"), source))  # after reading: see `StoredPosts.where`
        if reach >= last or found.num_rows >= most:
            break
        reach *= 2
    ids: list[str] = found.sort_by("batch").column("id").to_pylist()
    return ids
