"""The corpus: what a model trains on. Immutable, array-backed, with the posts it was made from beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from klda.errors import DataError, SettingError
from klda.interactive import shown
from klda.posts.schema import HasBatches, PostTable, microseconds
from klda.text.documents import Documents, Ints, Ragged, Words, merged, offsets
from klda.text.matching import CHUNK, Matcher
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary
from klda.text.windows import Windowing
from klda.types import Keyword, KeywordSet, Post, Progress, Window, as_keywords

Rows = Callable[[Words], slice]
"""Chooses a stretch of documents by the window of each."""


def every(window: Words) -> slice:
    """All documents, for who does not need those apart."""
    return slice(0, len(window))


@dataclass(frozen=True, eq=False)  # its arrays say of each number whether it is the same
class Corpus:
    """Documents that carry at least one candidate keyword, in the order of time.

    `documents` are those a model trains on, `observed` lists for each the candidates it carries, `apart` are the posts
    of the same windows without any candidate: kept, counted, and brought back by `with_candidates`.
    `history` holds the keyword set that was active in each window.
    """

    documents: Documents
    observed: Ragged  # one list for each document: columns of `candidates`, ascending
    apart: Documents
    vocabulary: Vocabulary
    candidates: KeywordSet
    windows: tuple[Window, ...]
    history: tuple[KeywordSet, ...]
    posts: PostTable
    adjacent: bool = False
    """Whether the words of a phrase must stand side by side to match."""
    settings: TextSettings = field(default_factory=TextSettings)
    windowing: Windowing = field(default_factory=Windowing)
    n_distinct: int = 0
    """Distinct words met when the corpus was made, before rare ones became the placeholder."""

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        """What it holds, in a line: its arrays would fill a notebook."""
        span = f"{self.windows[0]} to {self.windows[-1]}, " if self.windows else ""
        return (
            f"<Corpus of {len(self):,} documents and {len(self.apart):,} apart, {self.n_windows} windows "
            f"({span}{self.windowing.length}), {len(self.candidates):,} candidates, {len(self.vocabulary):,} words>"
        )

    @property
    def n_windows(self) -> int:
        """How many windows the corpus spans."""
        return len(self.windows)

    @cached_property
    def matcher(self) -> Matcher:
        """What decides which candidates a text carries."""
        return Matcher(self.candidates, adjacent=self.adjacent)

    @cached_property
    def keyword_words(self) -> Ragged:
        """The vocabulary's words that each candidate covers, hashtags included: what `z = 1` takes out."""
        return self.matcher.words_of(self.vocabulary)

    def take(self, index: Ints | slice) -> Corpus:
        """The documents at these positions (ascending); `apart` is left behind."""
        positions = np.arange(len(self))[index]
        return replace(
            self,
            documents=self.documents.take(index),
            observed=self.observed.take(positions),
            apart=self.apart.take(slice(0, 0)),
        )

    def span(self, start: int, stop: int | None = None) -> Corpus:
        """Windows `start` up to but without `stop`, renumbered from 0; negative numbers count from the end."""
        first, last, _ = slice(start, stop).indices(self.n_windows)
        inside = _window_slice(self.documents, first, last)
        return replace(
            self,
            documents=self.documents.take(inside).shifted(first),
            observed=self.observed.take(np.arange(inside.start, inside.stop)),
            apart=self.apart.take(_window_slice(self.apart, first, last)).shifted(first),
            windows=self.windows[first:last],
            history=self.history[first:last],
        )

    def window(self, index: int) -> Corpus:
        """One window; -1 is the last."""
        position = range(self.n_windows)[index]
        return self.span(position, position + 1)

    def between(self, start: datetime, end: datetime) -> Corpus:
        """Documents (and those apart) from `start` up to but without `end`; the windows stay as they are."""
        low, high = microseconds(start), microseconds(end)
        inside = slice(*np.searchsorted(self.documents.time, [low, high]).tolist())
        return replace(
            self,
            documents=self.documents.take(inside),
            observed=self.observed.take(np.arange(inside.start, inside.stop)),
            apart=self.apart.take(slice(*np.searchsorted(self.apart.time, [low, high]).tolist())),
        )

    def with_keyword(self, keyword: str | Keyword) -> Corpus:
        """Only the documents that carry this candidate."""
        return self.take(self.carrying([keyword]))

    def carrying(self, keywords: Iterable[str | Keyword]) -> Ints:
        """Positions of the documents that carry at least one of these candidates, ascending."""
        chosen = self.candidates.spell(as_keywords(keywords))
        unknown = chosen - self.candidates
        if unknown:
            raise DataError(f"{', '.join(unknown.texts)}: not among the candidates; use corpus.with_candidates")
        columns = np.array([self.candidates.index(keyword) for keyword in chosen], dtype=np.int32)
        hit = np.isin(self.observed.values, columns)
        return np.unique(self.observed.rows[hit])

    def with_candidates(self, candidates: KeywordSet | Iterable[str | Keyword]) -> Corpus:
        """The same posts matched against other candidates, without reading them again."""
        candidates = as_keywords(candidates)
        if not len(candidates):
            raise SettingError("a corpus needs at least one candidate keyword")
        if all(keyword in self.candidates.keywords for keyword in candidates):  # with the same forms
            return self._with_fewer(candidates)
        everything = merged(self.documents, self.apart)
        matcher = Matcher(candidates, adjacent=self.adjacent)
        rows = range(0, len(everything), CHUNK)  # a few texts at a time: the table of posts may be larger than memory
        found = Ragged.joined([matcher.match_many(self.posts.texts(everything.post[i : i + CHUNK])) for i in rows])
        carries = found.lengths > 0
        inside = np.flatnonzero(carries)
        return replace(
            self,
            documents=everything.take(inside),
            observed=found.take(inside),
            apart=everything.take(np.flatnonzero(~carries)),
            candidates=candidates,
        )

    def _with_fewer(self, candidates: KeywordSet) -> Corpus:
        """The same posts with these of the candidates alone, which were matched already."""
        column = np.full(len(self.candidates), -1, dtype=np.int32)
        column[[self.candidates.index(keyword) for keyword in candidates]] = np.arange(len(candidates))
        columns = column[self.observed.values]
        kept = columns >= 0
        rows, columns = self.observed.rows[kept], columns[kept]
        order = np.lexsort((columns, rows))  # columns ascend within a document
        carried = np.bincount(rows, minlength=len(self))
        inside, left = np.flatnonzero(carried), np.flatnonzero(carried == 0)
        return replace(
            self,
            documents=self.documents.take(inside),
            observed=Ragged(offsets(carried[inside]), columns[order]),
            apart=merged(self.documents.take(left), self.apart) if len(left) else self.apart,
            candidates=candidates,
        )

    def without_apart(self) -> Corpus:
        """The corpus as a filter made of its candidates would have collected it."""
        return replace(self, apart=self.apart.take(slice(0, 0)))

    def with_history(self, history: Sequence[KeywordSet]) -> Corpus:
        """The same documents with another record of which keywords were active in each window."""
        if len(history) != self.n_windows:
            raise SettingError(f"{len(history)} keyword sets for {self.n_windows} windows; give one for each")
        return replace(self, history=tuple(history))

    @classmethod
    def from_posts(
        cls,
        posts: HasBatches | Iterable[Post],
        keywords: KeywordSet | Iterable[str],
        *,
        candidates: KeywordSet | None = None,
        window: str | Windowing = "7d",
        settings: TextSettings | None = None,
        vocabulary: Vocabulary | None = None,
        extend_vocabulary: bool = False,
        adjacent: bool = False,
        stem_keywords: bool = False,
        history: Sequence[KeywordSet] | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Corpus:
        """The corpus of these posts, matched against `candidates` and `keywords`, cut into windows.

        `vocabulary` encodes with words numbered earlier: unknown ones become the placeholder or, with
        `extend_vocabulary`, are added behind when they are frequent. `stem_keywords` lets keywords that were typed
        match all frequent forms of their stem. `history` says which keywords were active in each window (default:
        `keywords`). `workers` is the number of threads; results do not depend on it. Without `progress`, a bar is shown
        in notebooks and at a Python prompt.

        >>> from datetime import UTC
        >>> days = [datetime(2026, 1, day, tzinfo=UTC) for day in (5, 6, 19)]
        >>> posts = [Post(id=str(day), time=day, text="Mask number one") for day in days]
        >>> corpus = Corpus.from_posts(posts, ["mask"], settings=TextSettings(min_count=2))
        >>> len(corpus), corpus.n_windows, corpus.vocabulary.words
        (3, 3, ('<rare>', 'mask', 'number', 'one'))
        """
        from klda.text.build import build

        with shown(progress) as report:
            return build(
                posts,
                keywords,
                candidates=candidates,
                window=window,
                settings=settings,
                vocabulary=vocabulary,
                extend_vocabulary=extend_vocabulary,
                adjacent=adjacent,
                stem_keywords=stem_keywords,
                history=history,
                workers=workers,
                progress=report,
            )

    def save(self, folder: Path | str) -> None:
        """Writes the corpus to a folder that `Corpus.load` maps into memory."""
        from klda.text.storage import save  # storage knows the corpus; the corpus only offers the verb

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: Path | str, rows: Rows | None = None) -> Corpus:
        """The corpus in a folder, memory-mapped; the shards of a folder of shards are joined on disk.

        With `rows`, only the documents that it chooses, given the windows of all in the order of time; `apart` is left
        behind.
        """
        from klda.text import shards, storage

        path = Path(folder)
        if shards.is_sharded(path):
            return shards.ShardedCorpus.open(path).joined(rows)
        corpus = storage.load(path)
        return corpus if rows is None else corpus.take(rows(corpus.documents.window))


def _window_slice(documents: Documents, first: int, last: int) -> slice:
    """Where windows first … last - 1 lie: documents are in the order of time, so windows are contiguous."""
    return slice(*np.searchsorted(documents.window, [first, last]).tolist())
