"""The vocabulary of many shards, from the words that each of them counted, in bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from math import ceil
from pathlib import Path

import polars as pl
import pyarrow as pa

from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary

WordCounts = pl.DataFrame
"""Rows of word (a stem), form (as people write it) and count; a pair of word and form may be in several rows."""

_SCHEMA = pa.schema({"word": pa.large_string(), "form": pa.large_string(), "count": pa.int64()})

ROW_BYTES = 400
"""What one row takes while rows are grouped, strings and hash tables included."""


def word_counts(vocabulary: Path) -> WordCounts:
    """How often each form of each word occurred, as a vocabulary on disk says."""
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
    """The vocabulary of all, and how many distinct words there were; only words that stay are held beyond `memory`.

    When there are too many to count at once, they are spread over files by hash, and counted one file at a time.
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
    """The counts in parts, all of a word in the same one."""
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
