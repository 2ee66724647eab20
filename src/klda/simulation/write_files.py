"""A simulated world written as an archive: Parquet or JSON lines, in the columns of public archives."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import zstandard

from klda.errors import SettingError
from klda.simulation.world import World
from klda.types import Progress, silent

_RENAMED = {"reposts": "retweets", "language": "lang"}
_COLUMNS = (
    *("id", "time", "text", "author", "reposts", "likes", "followers", "following", "author_posts", "author_likes"),
    *("language", "label", "hashtags"),
)
ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")


def write(world: World, path: Path | str, progress: Progress = silent) -> Path:
    """The file with all posts of the world; its ending (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) says how.

    The file appears under its name only when it is complete.
    """
    path = Path(path)
    if not path.name.endswith(ENDINGS):
        raise SettingError(f"{path}: cannot tell the format; end the name in {', '.join(ENDINGS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        if path.suffix == ".parquet":
            _write_parquet(world, partial, progress)
        else:
            _write_lines(world, partial, path.suffix, progress)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def archive_batches(world: World, progress: Progress = silent) -> Iterator[pa.RecordBatch]:
    """The posts in the columns of archives; reposts are marked by `x_is_repost`."""
    done = 0
    for batch in world.batches():
        columns = {_RENAMED.get(name, name): batch.column(name) for name in _COLUMNS}
        yield pa.RecordBatch.from_pydict(columns | {"x_is_repost": pc.is_valid(batch.column("repost_of"))})
        done += batch.num_rows
        progress("simulate", done, len(world))


def _write_parquet(world: World, path: Path, progress: Progress) -> None:
    writer: pq.ParquetWriter | None = None
    try:
        for batch in archive_batches(world, progress):
            writer = writer or pq.ParquetWriter(path, batch.schema, compression="zstd")
            writer.write_batch(batch)
    finally:
        if writer is not None:
            writer.close()


def _write_lines(world: World, path: Path, suffix: str, progress: Progress) -> None:
    with _compressed(path, suffix) as sink:
        for batch in archive_batches(world, progress):
            lines = io.BytesIO()
            pl.DataFrame(pl.from_arrow(batch)).write_ndjson(lines)
            sink.write(lines.getvalue())


@contextmanager
def _compressed(path: Path, suffix: str) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if suffix == ".gz":
            # no name and no time in the header: the same world gives the same bytes
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=5, mtime=0) as sink:
                yield cast(BinaryIO, sink)
        elif suffix == ".zst":
            with zstandard.ZstdCompressor().stream_writer(file) as sink:
                yield cast(BinaryIO, sink)
        else:
            yield file
