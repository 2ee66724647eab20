"""Shards put together: one corpus of several, in the order of time, and one vocabulary of the words that each counted.

Both use bounded memory. The arrays of a joined corpus lie in files without a name, which vanish with the arrays.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from klda.posts.schema import PostTable
from klda.posts.temp_arrays import nameless
from klda.text.corpus import Corpus
from klda.text.documents import Documents, Ints, Ragged, chosen, end_to_end, gather, offsets
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary

BLOCK = 1 << 18
"""Documents moved at a time."""


def in_time(parts: Sequence[Documents]) -> Ints:
    """Positions of the parts' documents, end to end, by time; by part and place where times are equal. # (D,)"""
    return np.argsort(end_to_end([part.time for part in parts]), kind="stable")


def joined(parts: Sequence[Corpus], scratch: Path, order: Ints | None = None) -> Corpus:
    """One corpus of parts that share vocabulary, candidates and windows; their posts follow one another.

    `order` picks some of the documents by their positions in the parts, end to end; documents apart are then dropped.
    Arrays are written to nameless files in `scratch`, or in the system's folder for temporary files if `scratch` is
    read-only. The files are mapped, so memory does not grow with the corpus.
    """
    all_documents, all_apart = [part.documents for part in parts], [part.apart for part in parts]
    first_post = offsets(np.array([len(part.posts) for part in parts]))
    nothing = np.zeros(0, dtype=np.int64)
    order, order_apart = (in_time(all_documents), in_time(all_apart)) if order is None else (order, nothing)
    lists = [part.observed for part in parts]
    indptr = offsets(chosen(end_to_end([ragged.lengths for ragged in lists]), order))
    values = _moved([ragged.indptr for ragged in lists], [ragged.values for ragged in lists], indptr, order, scratch)
    return replace(
        parts[0],
        documents=_join(all_documents, order, first_post, scratch),
        observed=Ragged(indptr, values),
        apart=_join(all_apart, order_apart, first_post, scratch),
        posts=PostTable(pa.concat_tables([part.posts.table for part in parts])),
    )


def _join(parts: Sequence[Documents], order: Ints, first_post: Ints, scratch: Path) -> Documents:
    """The documents at these positions of all parts."""
    indptr = offsets(chosen(end_to_end([np.diff(part.indptr) for part in parts]), order))
    starts = [part.indptr for part in parts]
    post = [part.post + first for part, first in zip(parts, first_post, strict=False)]
    return Documents(
        indptr,
        _moved(starts, [part.words for part in parts], indptr, order, scratch),
        _moved(starts, [part.counts for part in parts], indptr, order, scratch),
        _on_disk([part.time for part in parts], order, scratch),
        _on_disk([part.window for part in parts], order, scratch),
        _on_disk(post, order, scratch),
    )


def _moved(
    starts: Sequence[Ints], values: Sequence[NDArray[Any]], indptr: Ints, order: Ints, scratch: Path
) -> NDArray[Any]:
    """The lists of all parts in a new order, a block at a time; list i lies from indptr[i] to indptr[i + 1]."""
    found = nameless(int(indptr[-1]), values[0].dtype, scratch)
    first = offsets(np.array([len(start) - 1 for start in starts]))
    for low in range(0, len(order), BLOCK):
        rows = order[low : low + BLOCK]
        part = np.searchsorted(first, rows, side="right") - 1
        for number in np.unique(part).tolist():
            here = np.flatnonzero(part == number)
            local = rows[here] - first[number]
            lengths = starts[number][local + 1] - starts[number][local]
            found[gather(indptr[low + here], lengths)] = values[number][gather(starts[number][local], lengths)]
    found.flags.writeable = False
    return found


def _on_disk(arrays: Sequence[NDArray[Any]], order: Ints, scratch: Path) -> NDArray[Any]:
    """The numbers of all parts in a new order."""
    found = np.take(end_to_end(arrays), order, out=nameless(len(order), arrays[0].dtype, scratch), mode="wrap")
    found.flags.writeable = False
    return found


WordCounts = pl.DataFrame
"""Rows of word (a stem), form (as people write it) and count; a pair of word and form may be in several rows."""

_SCHEMA = pa.schema({"word": pa.large_string(), "form": pa.large_string(), "count": pa.int64()})

ROW_BYTES = 400
"""Memory of one row while rows are grouped, with strings and hash tables."""


def word_counts(vocabulary: Path) -> WordCounts:
    """How often each form of each word occurred, from a vocabulary on disk."""
    lists = pl.read_parquet(vocabulary).rename({"forms": "form", "form_counts": "count"})
    return lists.filter(pl.col("form").list.len() > 0).explode("form", "count")


def vocabulary_of(counts: WordCounts, settings: TextSettings) -> tuple[Vocabulary, int]:
    """The vocabulary of these counts, and how many distinct words there were before rare ones were left out.

    >>> counts = pl.DataFrame({"word": ["a", "b", "a"], "form": ["as", "b", "as"], "count": [2, 9, 1]})
    >>> words, n_distinct = vocabulary_of(counts, TextSettings(min_count=3))
    >>> words.words, words.form_counts, n_distinct
    (('<rare>', 'b', 'a'), ((), (9,), (3,)), 2)
    """
    frequent, n_distinct = frequent_words(counts, settings.min_count)
    return _ordered(frequent, settings.language), n_distinct


def merged_vocabulary(
    vocabularies: Sequence[Path], settings: TextSettings, *, memory: int = 1 << 30
) -> tuple[Vocabulary, int]:
    """The vocabulary of all shards, and the number of distinct words before rare ones were left out.

    Counts that exceed `memory` are spread over files by hash, and counted one file at a time. The frequent words
    themselves must fit into memory.
    """
    n_rows = sum(int(_row_count(path)) for path in vocabularies)
    n_parts = ceil(max(1, n_rows) * ROW_BYTES / memory)
    if n_parts == 1:
        return vocabulary_of(pl.concat(map(word_counts, vocabularies)), settings)
    frequent, n_distinct = [], 0
    for part in _spread(vocabularies, n_parts):
        some, n = frequent_words(part, settings.min_count)
        frequent.append(some)
        n_distinct += n
    return _ordered(pl.concat(frequent), settings.language), n_distinct


def _spread(vocabularies: Iterable[Path], n_parts: int) -> Iterator[WordCounts]:
    """The counts in parts. All counts of a word are in the same part."""
    with tempfile.TemporaryDirectory(prefix="klda-words-") as folder:
        paths = [f"{folder}/{number}.arrow" for number in range(n_parts)]
        with ExitStack() as stack:
            files = [stack.enter_context(pa.ipc.new_stream(path, _SCHEMA)) for path in paths]
            for vocabulary in vocabularies:
                for (number,), some in word_counts(vocabulary).group_by(pl.col("word").hash() % n_parts):
                    files[int(str(number))].write_table(some.to_arrow(compat_level=pl.CompatLevel.oldest()))
        for path in paths:
            with pa.OSFile(path) as file:
                yield pl.DataFrame(pa.ipc.open_stream(file).read_all())


def frequent_words(counts: WordCounts, min_count: int) -> tuple[WordCounts, int]:
    """The rows of words that occur often enough, each form once, and how many distinct words there are."""
    forms = counts.group_by("word", "form").agg(pl.col("count").sum())
    totals = forms.group_by("word").agg(total=pl.col("count").sum())
    return forms.join(totals.filter(pl.col("total") >= min_count), on="word"), len(totals)


def _ordered(frequent: WordCounts, language: str) -> Vocabulary:
    """The most frequent word first, and the most frequent of its forms; by letters where they are equal."""
    rows = frequent.sort("total", "word", "count", "form", descending=[True, False, True, False])
    found = rows.group_by("word", maintain_order=True).agg("form", "count")
    forms = zip(found["form"].to_list(), found["count"].to_list(), strict=True)
    listed = {word: dict(zip(*pair, strict=True)) for word, pair in zip(found["word"].to_list(), forms, strict=True)}
    return Vocabulary.of(listed, language)


def _row_count(vocabulary: Path) -> int:
    return int(pl.scan_parquet(vocabulary).select(pl.col("forms").list.len().sum()).collect().item() or 0)
