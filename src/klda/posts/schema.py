"""Posts in Arrow: the schema, conversion from and to `Post`, and the table of posts of a corpus."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from klda.errors import DataError, FormatError, InputError
from klda.types import Post

BATCH_ROWS = 8192

POST_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("author", pa.string()),
        pa.field("language", pa.string()),
        pa.field("repost_of", pa.string()),
        pa.field("hashtags", pa.list_(pa.string()), nullable=False),
        pa.field("reposts", pa.int64()),
        pa.field("likes", pa.int64()),
        pa.field("replies", pa.int64()),
        pa.field("quotes", pa.int64()),
        pa.field("followers", pa.int64()),
        pa.field("following", pa.int64()),
        pa.field("author_posts", pa.int64()),
        pa.field("author_likes", pa.int64()),
        pa.field("label", pa.string()),
    ]
)
"""One column for each field of `Post`, in the same order."""


@runtime_checkable
class HasBatches(Protocol):
    """Anything that yields record batches in `POST_SCHEMA`: a reader, a store, a simulation."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Batches of the posts, a few thousand rows each."""
        ...


def to_batch(posts: Iterable[Post]) -> pa.RecordBatch:
    """A record batch of these posts.

    >>> batch = to_batch([Post(id="1", time=datetime(2026, 1, 5, tzinfo=UTC), text="Hello", hashtags=("a",))])
    >>> batch.num_rows, next(from_batch(batch)).hashtags
    (1, ('a',))
    """
    rows = list(posts)
    for post in rows:
        if post.time.tzinfo is None:
            raise DataError(f"post {post.id}: the time {post.time} has no zone; add one, as in tzinfo=datetime.UTC")
    columns = [pa.array([getattr(post, f.name) for post in rows], type=f.type) for f in POST_SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=POST_SCHEMA)


def from_batch(batch: pa.RecordBatch) -> Iterator[Post]:
    """The posts of a record batch, one by one."""
    columns = [batch.column(name).to_pylist() for name in POST_SCHEMA.names]
    for row in zip(*columns, strict=True):
        values: list[Any] = list(row)
        values[1] = values[1].astimezone(UTC)
        values[6] = tuple(values[6] or ())
        yield Post(*values)


def as_batches(posts: HasBatches | Iterable[Post], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Record batches of any source of posts; only one batch is in memory at a time."""
    if isinstance(posts, HasBatches):
        yield from posts.batches()
        return
    if isinstance(posts, str | os.PathLike):
        raise InputError(f"{posts}: this is a file name, not posts; read it first: klda.read_posts({str(posts)!r})")
    if hasattr(posts, "__arrow_c_stream__"):
        raise InputError("a frame is not a list of posts; read it first: klda.read_posts(frame)")
    iterator = iter(posts)
    while chunk := list(islice(iterator, rows)):
        if not isinstance(chunk[0], Post):
            kind = type(chunk[0]).__name__
            raise InputError(
                f"the posts are {kind}, not klda.Post; read files and frames with klda.read_posts, or make Post objects"
            )
        yield to_batch(chunk)


def unread(posts: object) -> tuple[str, ...]:
    """A note on the number of records that could not be read, with the reasons; empty if all were read."""
    report: Any = getattr(posts, "report", None)
    bad = dict(getattr(report, "bad", {}))
    if not bad:
        return ()
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in bad.items())
    return (f"{sum(bad.values()):,} of {report.lines:,} records could not be read and were left out: {reasons}",)


class PostTable:
    """The posts of a corpus, by row: in memory, or memory-mapped from an Arrow file.

    >>> table = PostTable.of([Post(id="1", time=datetime(2026, 1, 5, tzinfo=UTC), text="Hello")])
    >>> len(table), table[0].text
    (1, 'Hello')
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @classmethod
    def of(cls, posts: HasBatches | Iterable[Post]) -> PostTable:
        """A table in memory."""
        return cls(pa.Table.from_batches(list(as_batches(posts)), schema=POST_SCHEMA))

    @classmethod
    def open(cls, path: Path) -> PostTable:
        """The table in an Arrow file; the file is memory-mapped, not read."""
        try:
            with pa.memory_map(str(path)) as source:
                table = pa.ipc.open_file(source).read_all()
        except (OSError, pa.ArrowInvalid) as error:
            raise FormatError(f"{path}: not a readable table of posts ({error}); prepare the corpus again") from error
        if not table.schema.equals(POST_SCHEMA):
            raise FormatError(f"{path}: columns differ from those of this version; prepare the corpus again")
        return cls(table)

    def save(self, path: Path) -> None:
        """Writes the table as an uncompressed Arrow file, which can be memory-mapped."""
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, POST_SCHEMA) as writer:
            writer.write_table(self.table, max_chunksize=65_536)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<PostTable of {len(self):,} posts>"

    def __getitem__(self, row: int) -> Post:
        return next(from_batch(self.table.slice(row, 1).combine_chunks().to_batches()[0]))

    def column(self, name: str, rows: NDArray[np.int64] | None = None) -> pa.ChunkedArray:
        """One column, whole or at the given rows."""
        column = self.table.column(name)
        if rows is None or not len(rows):
            return column if rows is None else column.slice(0, 0)
        order = np.argsort(rows, kind="stable")
        ordered, edges = rows[order], np.cumsum([0, *map(len, column.chunks)])
        cuts = np.searchsorted(ordered, edges)
        # Chunk by chunk: Arrow would join all chunks first, and one array can hold 2 GB of text only.
        found = pa.chunked_array(
            [
                chunk.take(pa.array(ordered[start:end] - edge))
                for chunk, edge, start, end in zip(column.chunks, edges[:-1], cuts[:-1], cuts[1:], strict=True)
                if start < end
            ]
        )
        return found if (order[:-1] < order[1:]).all() else found.take(pa.array(np.argsort(order)))

    def texts(self, rows: NDArray[np.int64] | None = None) -> list[str]:
        """The texts at the given rows."""
        texts: list[str] = self.column("text", rows).to_pylist()
        return texts

    def counts(self, name: str, rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """A count as floats; NaN where the platform gave none."""
        values: NDArray[np.float64] = np.asarray(
            self.column(name, rows).cast(pa.float64()).fill_null(float("nan")).to_numpy(), dtype=np.float64
        )
        return values

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The table as record batches."""
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)


class PostSink:
    """Collects batches of posts: first in memory, above a limit in a temporary Arrow file, which is memory-mapped."""

    def __init__(self, keep_bytes: int = 64 << 20) -> None:
        self.rows = 0
        self._keep_bytes = keep_bytes
        self._batches: list[pa.RecordBatch] = []
        self._spill: _Spill | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Adds a batch."""
        self.rows += batch.num_rows
        if self._spill is not None:
            self._spill.writer.write_batch(batch)
            return
        self._batches.append(batch)
        self._keep_bytes -= batch.nbytes
        if self._keep_bytes < 0:
            self._spill = _Spill()
            for kept in self._batches:
                self._spill.writer.write_batch(kept)
            self._batches.clear()

    def finish(self) -> PostTable:
        """The table of all batches; a temporary file is deleted with the table."""
        if self._spill is None:
            return PostTable(pa.Table.from_batches(self._batches, schema=POST_SCHEMA))
        return self._spill.finish()


class _Spill:
    """A temporary Arrow file. It has a name only while it is written, and disappears when it is no longer used."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="klda-posts-", suffix=".arrow")
        os.close(handle)
        self._path = Path(name)
        self._removal = weakref.finalize(self, self._path.unlink, missing_ok=True)
        self._file = pa.OSFile(name, "wb")
        self.writer = pa.ipc.new_file(self._file, POST_SCHEMA)

    def finish(self) -> PostTable:
        """The table in the file. The file exists while it is mapped; it disappears however the process ends."""
        self.writer.close()
        self._file.close()
        table = PostTable.open(self._path)
        self._removal()
        return table


def microseconds(time: datetime) -> int:
    """Microseconds since 1970 in UTC, the form in which corpora store time.

    >>> microseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    if time.tzinfo is None:
        raise DataError(f"the time {time} has no zone; add one, as in tzinfo=datetime.UTC")
    delta = time.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
