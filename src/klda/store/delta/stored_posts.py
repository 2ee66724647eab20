"""Stored posts as the rest of the program reads them, and as files that leave the store."""

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
"""The columns of an exported file."""


@dataclass(frozen=True)
class StoredPosts:
    """Posts of some windows as they were when this was made: later commits do not change what is read."""

    dataset: ds.Dataset
    place: str
    """What errors call the table."""

    def __len__(self) -> int:
        with guarded(self.place, "be read"):
            return int(self.dataset.count_rows())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The posts, a few thousand at a time, in `POST_SCHEMA`."""
        return self.rows(POST_SCHEMA)

    def rows(self, schema: pa.Schema = ROW_SCHEMA) -> Iterator[pa.RecordBatch]:
        """The columns of a schema, a few thousand rows at a time."""
        with guarded(self.place, "be read"):
            for batch in self.dataset.to_batches(columns=schema.names, batch_size=BATCH_ROWS):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch]).cast(schema).combine_chunks().to_batches()[0]

    def where(self, condition: pc.Expression, columns: Sequence[str]) -> pa.Table:
        """These columns of the rows for which a condition on them holds.

        It is put to what has been read: Delta rewrites files with strings of another type than the table's, and PyArrow
        does not compare these with the extremes that a file notes, which it would look at before reading.
        """
        schema = pa.schema([ROW_SCHEMA.field(name) for name in columns])
        found = (pa.Table.from_batches([batch]).filter(condition) for batch in self.rows(schema))
        return pa.concat_tables([schema.empty_table(), *found])

    def table(self) -> PostTable:
        """All posts in memory."""
        return PostTable.of(self)


Writer = Callable[[StoredPosts, Path], int]
"""Writes posts to a file, and returns how many there were."""


def export(posts: StoredPosts, path: Path, others: Mapping[str, Writer] | None = None) -> int:
    """Writes the posts to a `.parquet` or `.jsonl` file that `read_posts` reads, and returns how many there were.

    The file appears under its name when it is whole. `others` write files with further endings.
    """
    writers = {".parquet": _write_parquet, ".jsonl": _write_json_lines} | dict(others or {})
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise SettingError(f"{path}: posts are exported as {' or '.join(writers)}; name the file so")
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
    """Turns what a disk or a service may throw into one clear error.

    On a full disk a thread of Delta may panic: it then prints a trace of its own, which nothing here can keep back, and
    raises what is no `Exception`.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, DeltaError | OSError | pa.ArrowException) and not _is_panic(error):
            raise
        reason = " ".join(str(error).split())
        advice = "make room on the disk" if "No space left" in reason else "see to the cause"
        raise StoreError(
            f"{place}: the posts cannot {action} ({reason}); {advice} and start again: what was committed is kept"
        ) from error


def _is_panic(error: BaseException) -> bool:
    """Whether it is a panic of a library written in Rust; their class cannot be imported."""
    return type(error).__name__ == "PanicException" and type(error).__module__ == "pyo3_runtime"


class RecentIds:
    """The newest ids, as many as asked for; older ones are forgotten.

    An id is kept as a digest of 64 bits, in an array that is there from the start: memory does not grow with what is
    stored. Among 100,000 ids a new one is taken for known once in 10¹⁴ times; nobody can bring that about, because the
    digests of each process have a key of their own.

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
        """Remembers ids that were stored."""
        new = self._digests(ids)[-len(self._ring) :]
        self._ring[(self._added + np.arange(len(new))) % len(self._ring)] = new
        self._added += len(new)

    def fresh(self, ids: pa.Array | pa.ChunkedArray, again: Iterable[str] = ()) -> pa.Array:
        """Which ids are neither remembered, save those that may come again, nor met before among themselves."""
        digests = self._digests(ids.to_pylist())
        new = np.zeros(len(digests), dtype=np.bool_)
        new[np.unique(digests, return_index=True)[1]] = True
        return pa.array(new & (~np.isin(digests, self._ring[: len(self)]) | np.isin(digests, self._digests(again))))

    def _digests(self, ids: Iterable[str]) -> NDArray[np.uint64]:
        encoded = (name.encode("utf-8", "surrogatepass") for name in ids)
        joined = b"".join(blake2b(name, digest_size=8, key=self._key).digest() for name in encoded)
        return np.frombuffer(joined, dtype=np.uint64)


def newest_ids(stored: ds.Dataset, source: str, sample: bool, last: int, most: int) -> list[str]:
    """Ids of a source's newest batches up to `last`, oldest first: of so many batches that they hold `most` or more."""
    reach = 64
    while True:
        newest = (pc.field("sample") == sample) & (pc.field("batch") > last - reach)
        found = stored.to_table(columns=["id", "batch", "source"], filter=newest)
        found = found.filter(pc.equal(found.column("source"), source))  # not before: see `StoredPosts.where`
        if reach >= last or found.num_rows >= most:
            break
        reach *= 2
    ids: list[str] = found.sort_by("batch").column("id").to_pylist()
    return ids
