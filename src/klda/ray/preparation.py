"""Preparation on Ray Data: files of posts → a corpus in shards, on all nodes of a cluster.

1. Tasks read files and write the posts in parts to the shared disk.
2. An aggregation finds ids that occur in several files.
3. Tasks turn parts into local shards.
4. An aggregation counts the words of all shards.
5. Tasks renumber the words of every shard.

Only paths and counts are sent between nodes, so a lost node costs only its running tasks.
"""

from __future__ import annotations

import logging
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pandas as pd
import polars as pl
import pyarrow as pa
import ray.data
from ray.data.context import DataContext, ShuffleStrategy
from ray.exceptions import RayError

from klda.posts.schema import PostTable
from klda.ray.cluster import own_error, task_map
from klda.ray.input_files import SourceFile, grouped, on_this_machine
from klda.text import storage
from klda.text.joining import frequent_words, vocabulary_of, word_counts
from klda.text.out_of_core import MOST_TEXT, make_part, spilled
from klda.text.recipe import Recipe
from klda.text.shards import VOCABULARY, ShardedCorpus, assemble
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary
from klda.types import Progress, silent

BUCKETS = 64
"""The number of parts in which words and ids are counted, each by one task."""


class ReportedPosts(Protocol):
    """The posts of some files, and the report on reading them."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Batches of the posts."""
        ...

    @property
    def report(self) -> Any:
        """The report so far; it can be pickled."""
        ...


Read = Callable[[Sequence[tuple[Path, bool]]], ReportedPosts]
"""Reads files, each with whether the user named it; it must be picklable."""


@dataclass(frozen=True)
class Prepared:
    """A corpus in shards, and the reports on its files."""

    corpus: ShardedCorpus | None
    """None if the files have no post; the reports give the reasons."""
    reports: list[Any]
    duplicates: int
    """Posts that were dropped because an earlier file has them; the reports do not count these."""


def prepare(
    files: Sequence[SourceFile],
    read: Read,
    recipe: Recipe,
    folder: Path,
    *,
    text_bytes: int = MOST_TEXT,
    progress: Progress = silent,
) -> Prepared:
    """The corpus of these files, in a folder of shards on a disk that all nodes share; it equals a corpus made locally.

    A shard has about `text_bytes` bytes of text. Ray must be connected.
    """
    folder = folder.resolve()
    storage.check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _set_up()
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-parts-", dir=folder.parent) as work:
        try:
            groups = list(enumerate(grouped(files)))
            cut = _rows(groups, partial(_cut, read=read, work=Path(work), text_bytes=text_bytes))
            cut.sort(key=lambda row: (row["group"], row["part"]))
            progress("read", len(files), len(files))
            reports = [pickle.loads(row["report"]) for row in cut if row["report"]]  # noqa: S301  made by our own tasks
            paths = [Path(row["path"]) for row in cut if row["rows"]]
            if not paths:
                return Prepared(None, reports, 0)
            repeated = (
                _repeated(paths) if len(groups) > 1 else pl.DataFrame(schema={"id": pl.String, "first": pl.Int64})
            )
            make = partial(make_part, recipe=recipe)
            made = _rows(list(enumerate(paths)), partial(_make, make=make, repeated=repeated))
            made.sort(key=lambda row: row["number"])
            progress("prepare", sum(row["rows"] for row in made))
            parts = [Path(row["path"]) for row in made if row["rows"]]
            words = _words(parts, recipe.settings)  # the first post is never dropped, so there is a part
        except RayError as error:
            raise own_error(error) from error
        corpus = assemble(
            parts,
            folder,
            recipe,
            vocabulary=words,
            map_tasks=task_map(ordered=True),
            progress=progress,
        )
    return Prepared(corpus, reports, sum(row["dropped"] for row in made))


def _set_up() -> None:
    """Sets up Ray Data: quiet, and with shuffles by tasks, which survive the loss of a node."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = DataContext.get_current()
    context.shuffle_strategy = ShuffleStrategy.SORT_SHUFFLE_PULL_BASED
    context.enable_progress_bars = False
    context.print_on_execution_start = False


def _dataset(items: Sequence[tuple[int, Any]]) -> ray.data.Dataset:
    """A dataset of numbered items, each for its own task."""
    rows = [{"item": pickle.dumps(item)} for item in items]
    return ray.data.from_items(rows, override_num_blocks=len(rows))


def _rows(items: Sequence[tuple[int, Any]], function: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows that a function returns for each numbered item, in any order."""
    if not items:  # Ray Data makes no dataset of nothing
        return []
    rows: list[dict[str, Any]] = _dataset(items).flat_map(partial(_flat, function=function)).take_all()
    return rows


def _flat(row: dict[str, Any], function: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    pa.set_cpu_count(1)
    return function(*pickle.loads(row["item"]))  # noqa: S301  `_dataset` made it


def _cut(number: int, files: list[SourceFile], read: Read, work: Path, text_bytes: int) -> list[dict[str, Any]]:
    """The parts on disk with the posts of a group of files, and their report; a repeated task uses a new folder."""
    folder = work / f"{number:05d}-{uuid4().hex}"
    folder.mkdir()
    with on_this_machine(files) as here:
        posts = read(here)
        parts = [
            {"group": number, "part": part, "path": str(path), "rows": rows, "report": b""}
            for part, (path, rows) in enumerate(spilled(posts, folder, text_bytes))
        ]
        summary = {"group": number, "part": -1, "path": "", "rows": 0, "report": pickle.dumps(posts.report)}
        return [summary, *parts]


def _make(number: int, path: Path, make: Callable[[Path, Path], None], repeated: pl.DataFrame) -> list[dict[str, Any]]:
    """The local shard made from a part, without the posts that an earlier part has."""
    folder = path.parent / f"{path.stem}-{uuid4().hex}"
    table = PostTable.open(path).table
    kept = table.filter(_first_here(table, number, repeated)) if len(repeated) else table
    if len(kept) < len(table):
        path = folder.with_suffix(".arrow")
        PostTable(kept).save(path)
    if len(kept):
        make(path, folder)
    return [{"number": number, "path": str(folder), "rows": len(kept), "dropped": len(table) - len(kept)}]


def _first_here(table: pa.Table, number: int, repeated: pl.DataFrame) -> pa.Array:
    """Which posts of a part are in no earlier part."""
    ids = pl.DataFrame({"id": pl.Series(table.column("id").combine_chunks())})
    first = ids.join(repeated, on="id", how="left", maintain_order="left")["first"]
    return pa.array((first.is_null() | (first == number)).fill_null(True).to_numpy())


def _repeated(paths: Sequence[Path]) -> pl.DataFrame:
    """The ids that occur in more than one part, each with its first part."""

    def ids(row: pa.Table) -> Iterator[pa.Table]:
        for number, path in map(pickle.loads, row.column("item").to_pylist()):
            found = PostTable.open(path).table.column("id").combine_chunks()
            yield _in_buckets(pl.DataFrame({"id": pl.Series(found), "part": number}), "id")

    def first(bucket: pa.Table) -> pa.Table:
        parts = pl.DataFrame(bucket).group_by("id").agg(first=pl.col("part").min(), n=pl.len())
        return _arrow(parts.filter(pl.col("n") > 1).select("id", "first"))

    return _by_bucket(list(enumerate(paths)), ids, first)


def _words(parts: Sequence[Path], settings: TextSettings) -> tuple[Vocabulary, int]:
    """The vocabulary of all parts, and their number of distinct words."""

    def counts(row: pa.Table) -> Iterator[pa.Table]:
        for _, path in map(pickle.loads, row.column("item").to_pylist()):
            yield _in_buckets(word_counts(path / VOCABULARY), "word")

    def frequent(bucket: pa.Table) -> pa.Table:
        words, n_distinct = frequent_words(pl.DataFrame(bucket), settings.min_count)
        number = pl.DataFrame({"word": [""], "form": [""], "count": [n_distinct]})  # a word is never empty
        return _arrow(pl.concat([words.select("word", "form", "count"), number]))

    found = _by_bucket(list(enumerate(parts)), counts, frequent)
    is_word = pl.col("word") != ""
    vocabulary, _ = vocabulary_of(found.filter(is_word), settings)
    return vocabulary, int(found.filter(~is_word)["count"].sum())


def _by_bucket(
    items: Sequence[tuple[int, Any]],
    rows: Callable[[pa.Table], Iterator[pa.Table]],
    aggregate: Callable[[pa.Table], pa.Table],
) -> pl.DataFrame:
    """The results of an aggregation over the rows of all items, by bucket."""
    shuffled = _dataset(items).map_batches(rows, batch_size=1, batch_format="pyarrow").groupby("bucket")
    tables = shuffled.map_groups(aggregate, batch_format="pyarrow").iter_batches(
        batch_size=None, batch_format="pyarrow"
    )
    return pl.concat([pl.DataFrame(table) for table in tables])


def _in_buckets(rows: pl.DataFrame, key: str) -> pa.Table:
    """The rows with their buckets; equal keys have the same bucket on every machine."""
    hashed = pd.util.hash_array(rows[key].to_numpy().astype(object), categorize=False) % BUCKETS
    return _arrow(rows.with_columns(bucket=pl.Series(hashed.astype("int64"))))


def _arrow(rows: pl.DataFrame) -> pa.Table:
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())
