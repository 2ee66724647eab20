"""From posts to a corpus in shards, on all cores. Memory is bounded, however many posts there are.

Posts are cut into shards as they are read, and stored on disk. Processes turn shards into local corpora while
reading goes on; then the words of all shards are merged, and processes renumber each shard's words.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from klda.errors import SettingError
from klda.posts.schema import POST_SCHEMA, HasBatches, PostTable, as_batches
from klda.text import storage
from klda.text.processes import spawned
from klda.text.recipe import Recipe
from klda.text.shards import ShardedCorpus, assemble, local_shard
from klda.types import Post, Progress, silent

LEAST_MEMORY = 512 << 20
PROCESS_BYTES = 200 << 20
"""Memory of a process without posts: the interpreter, Arrow, Polars."""
BYTES_A_TEXT_BYTE = 12
"""Memory for each byte of text while a shard is made, generously: about 5 were measured."""
MOST_TEXT = 32 << 20
"""Bytes of text in a shard; larger ones would gain nothing."""


def prepare(
    posts: HasBatches | Iterable[Post],
    recipe: Recipe,
    folder: Path,
    *,
    memory: int = 4 << 30,
    workers: int | None = None,
    progress: Progress = silent,
) -> ShardedCorpus:
    """Writes the corpus of these posts to a folder of shards; it equals `Corpus.made` of the same posts.

    `memory` bounds the memory of all processes together, in bytes, without the vocabulary. `workers`
    is the number of processes (default: as many as cores and memory allow). `memory` changes only
    where shards are cut.
    """
    if memory < LEAST_MEMORY:
        raise SettingError(f"memory must be at least {LEAST_MEMORY >> 20} MiB, got {memory >> 20} MiB")
    storage.check_free(folder)  # fail at once, not after hours of work
    n_workers = max(1, min(workers or os.cpu_count() or 1, memory // LEAST_MEMORY - 1))
    text_bytes = min(MOST_TEXT, (memory // (n_workers + 1) - PROCESS_BYTES) // BYTES_A_TEXT_BYTE)
    make = partial(_made, recipe=recipe)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = tempfile.TemporaryDirectory(prefix=f".{folder.name}-parts-", dir=folder.parent)
    with beside as work, spawned(n_workers, _one_thread) as pool:
        parts: list[Path] = []
        waiting: deque[Future[Path]] = deque()
        n_posts = 0
        for path, rows in spilled(posts, Path(work), max(1, text_bytes)):
            waiting.append(pool.submit(make, path))
            n_posts += rows
            progress("prepare", n_posts)
            if len(waiting) > 2 * n_workers:  # reading may run ahead, but not far: its files need disk space
                parts.append(waiting.popleft().result())
        parts.extend(future.result() for future in waiting)
        return assemble(
            parts,
            folder,
            recipe,
            memory=memory // 4,
            map_tasks=pool.map,
            progress=progress,
        )


def spilled(posts: HasBatches | Iterable[Post], work: Path, text_bytes: int) -> Iterator[tuple[Path, int]]:
    """Files of posts with at most `text_bytes` bytes of text (at least one post), and the number of posts in each."""
    waiting: list[pa.RecordBatch] = []
    size = number = 0
    for batch in chain.from_iterable(_cut(batch, text_bytes) for batch in as_batches(posts)):
        texts = batch.column("text").nbytes
        if waiting and size + texts > text_bytes:
            yield _write(waiting, work / f"{number:05d}.arrow")
            waiting, size, number = [], 0, number + 1
        waiting.append(batch)
        size += texts
    if waiting:
        yield _write(waiting, work / f"{number:05d}.arrow")


def _cut(batch: pa.RecordBatch, text_bytes: int) -> Iterator[pa.RecordBatch]:
    """The batch in halves of halves, each of at most so many bytes of text or of one post."""
    if batch.num_rows == 1 or batch.column("text").nbytes <= text_bytes:
        yield batch
        return
    middle = batch.num_rows // 2
    yield from _cut(batch.slice(0, middle), text_bytes)
    yield from _cut(batch.slice(middle), text_bytes)


def _write(batches: list[pa.RecordBatch], path: Path) -> tuple[Path, int]:
    table = PostTable(pa.Table.from_batches(batches, schema=POST_SCHEMA))
    table.save(path)
    return path, len(table)


def _made(path: Path, recipe: Recipe) -> Path:
    """The folder of the local shard of some posts. Their file is deleted."""
    folder = path.with_suffix("")
    make_part(path, folder, recipe)
    path.unlink()
    return folder


def make_part(path: Path, folder: Path, recipe: Recipe) -> None:
    """Writes the local shard of the posts in a file to a folder."""
    shard = local_shard(PostTable.open(path), recipe)
    with storage.replacing(folder) as fresh:
        storage.write(shard, fresh, posts=path)


def _one_thread() -> None:
    """Limits this process to one thread, because processes share the cores."""
    pa.set_cpu_count(1)
