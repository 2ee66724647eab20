"""The corpus that a model trains on: immutable arrays, and the posts they were made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from klda.cells import cell_text, html_table
from klda.errors import DataError, SettingError
from klda.interactive import shown
from klda.posts.schema import HasBatches, PostSink, PostTable, as_batches, microseconds, unread
from klda.text.documents import Documents, Ints, Ragged, Words, concatenated, merged, offsets, time_order
from klda.text.encoding import Numbers, count_forms, documents_of, encode_all, known_and_frequent
from klda.text.matching import CHUNK, Matcher
from klda.text.recipe import Recipe
from klda.text.text_settings import TextSettings
from klda.text.tokens import normalise
from klda.text.vocabulary import Vocabulary
from klda.text.windows import Windowing
from klda.types import Keyword, KeywordSet, Post, Progress, Window, as_keywords, silent

SHOWN = 8
"""Candidates that a notebook shows by name."""
CHUNK_ROWS = 65_536
"""Posts encoded at a time: enough that most words repeat, few enough to stay small in memory."""
Rows = Callable[[Words], slice]
"""Chooses a range of documents by their windows."""


def every(window: Words) -> slice:
    """All documents: for callers that need no others."""
    return slice(0, len(window))


@dataclass(frozen=True, eq=False)  # comparing arrays gives arrays, not one answer
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
        """One line about the corpus; its arrays would fill a notebook."""
        span = f"{self.windows[0]} to {self.windows[-1]}, " if self.windows else ""
        return (
            f"<Corpus of {len(self):,} documents and {len(self.apart):,} apart, {self.n_windows} windows "
            f"({span}{self.windowing.length}), {len(self.candidates):,} candidates, {len(self.vocabulary):,} words>"
        )

    def _repr_html_(self) -> str:
        """A table for notebooks, with one fact in each row."""
        first = ", ".join(self.candidates.texts[:SHOWN]) + (" …" if len(self.candidates) > SHOWN else "")
        facts = {
            "documents": len(self),
            "posts without a candidate": len(self.apart),
            "windows": f"{self.n_windows} of {self.windowing.length}",
            "from": str(self.windows[0]) if self.windows else "–",
            "last window": str(self.windows[-1]) if self.windows else "–",
            "candidates": f"{len(self.candidates):,}: {first}",
            "words": len(self.vocabulary),
            "language": self.settings.language,
        }
        return html_table(("corpus", ""), [(name, cell_text(value)) for name, value in facts.items()])

    @property
    def n_windows(self) -> int:
        """How many windows the corpus spans."""
        return len(self.windows)

    @cached_property
    def matcher(self) -> Matcher:
        """The matcher that finds the candidates in a text."""
        return Matcher(self.candidates, adjacent=self.adjacent)

    @cached_property
    def keyword_words(self) -> Ragged:
        """The words that each candidate covers, with hashtags. A model hides them where it observes the candidate."""
        return self.matcher.words_of(self.vocabulary)

    def take(self, index: Ints | slice) -> Corpus:
        """The documents at these positions (ascending); without those of `apart`."""
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
        same = set(candidates.exclusions) == set(self.candidates.exclusions)
        if same and all(keyword in self.candidates.keywords for keyword in candidates):  # with the same forms
            return self._with_fewer(candidates)
        everything = merged(self.documents, self.apart)
        found = self._matched(everything, candidates)
        carries = found.lengths > 0
        inside = np.flatnonzero(carries)
        return replace(
            self,
            documents=everything.take(inside),
            observed=found.take(inside),
            apart=everything.take(np.flatnonzero(~carries)),
            candidates=candidates,
        )

    def without_excluded(self, exclusions: KeywordSet) -> Corpus:
        """The corpus without the posts that these exclusions leave out, and without exclusions of its own.

        Such posts are not collected, so nothing should be learnt from them.
        """
        corpus = self.with_candidates(self.candidates.included) if self.candidates.exclusions else self
        if any(used.exclusions for used in corpus.history):
            corpus = corpus.with_history([used.included for used in corpus.history])
        if not exclusions:
            return corpus
        inside, apart = (
            np.flatnonzero(self._matched(documents, exclusions.left_out).lengths == 0)
            for documents in (corpus.documents, corpus.apart)
        )
        observed, apart_left = corpus.observed.take(inside), corpus.apart.take(apart)
        return replace(corpus, documents=corpus.documents.take(inside), observed=observed, apart=apart_left)

    def _matched(self, documents: Documents, keywords: KeywordSet) -> Ragged:
        """The keywords that these documents carry; a few texts at a time, as they may be larger than memory."""
        matcher, rows = Matcher(keywords, adjacent=self.adjacent), range(0, len(documents), CHUNK)
        return Ragged.joined([matcher.match_many(self.posts.texts(documents.post[i : i + CHUNK])) for i in rows])

    def _with_fewer(self, candidates: KeywordSet) -> Corpus:
        """The same posts with some of the candidates, whose matches are known."""
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
        """The posts that a filter of the candidates would have collected."""
        return replace(self, apart=self.apart.take(slice(0, 0)))

    def with_history(self, history: Sequence[KeywordSet]) -> Corpus:
        """The same documents with other lists of active keywords, one for each window."""
        if len(history) != self.n_windows:
            raise SettingError(f"{len(history)} keyword sets for {self.n_windows} windows; give one for each")
        return replace(self, history=tuple(history))

    @classmethod
    def from_posts(
        cls,
        posts: HasBatches | Iterable[Post],
        keywords: KeywordSet | Iterable[str],
        *,
        workers: int | None = None,
        progress: Progress | None = None,
        **how: Any,
    ) -> Corpus:
        """The corpus of these posts, matched against `keywords`, cut into windows.

        `how` are the further settings of a `Recipe`: `candidates`, `window`, `settings`, `stem_keywords`, `history` and
        so on. `workers` is the number of threads; results do not depend on it. Without `progress`, a bar is shown in
        notebooks and at a Python prompt.

        >>> from datetime import UTC
        >>> days = [datetime(2026, 1, day, tzinfo=UTC) for day in (5, 6, 19)]
        >>> posts = [Post(id=str(day), time=day, text="Mask number one") for day in days]
        >>> corpus = Corpus.from_posts(posts, ["mask"], settings=TextSettings(min_count=2))
        >>> len(corpus), corpus.n_windows, corpus.vocabulary.words
        (3, 3, ('<rare>', 'mask', 'number', 'one'))
        """
        with shown(progress) as report:
            return cls.made(posts, Recipe(as_keywords(keywords), **how), workers=workers, progress=report)

    @classmethod
    def made(
        cls,
        posts: HasBatches | Iterable[Post],
        recipe: Recipe,
        *,
        workers: int | None = None,
        progress: Progress = silent,
    ) -> Corpus:
        """The corpus of these posts by a recipe."""
        settings, number, sink = recipe.settings, Numbers(), PostSink()
        encoded: list[Ragged] = []
        observed: list[Ragged] = []
        matcher = Matcher(recipe.matched, adjacent=recipe.adjacent)
        for part in encode_all(_texts(posts, sink), matcher, settings, workers):
            encoded.append(Ragged(part.texts.indptr, number.of(part.forms)[part.texts.values]))
            observed.append(part.observed)
            progress("prepare", sum(map(len, encoded)))
        if not sink.rows:
            why = "".join(f" ({note})" for note in unread(posts))
            raise DataError(f"there are no posts to prepare{why}; check the files and the filters")

        table = sink.finish()
        stems, found_forms = count_forms(list(number), encoded, settings)
        words = known_and_frequent(found_forms, recipe)
        word_of_form = np.fromiter(map(words.index, stems), dtype=np.int32, count=len(stems))
        time = table.column("time").cast(pa.int64()).to_numpy()
        windows, index = recipe.windowing.assign(time)
        numbered = (Ragged(chunk.indptr, word_of_form[chunk.values]) for chunk in encoded)
        documents = documents_of(numbered, len(words), time, index)
        found = Ragged.joined(observed)
        order = np.argsort(time, kind="stable")
        carries = found.lengths[order] > 0
        inside = order[carries]
        corpus = cls(
            documents=documents.take(inside),
            observed=found.take(inside),
            apart=documents.take(order[~carries]),
            vocabulary=words,
            candidates=recipe.matched,
            windows=windows,
            history=recipe.active_in(windows),
            posts=table,
            adjacent=recipe.adjacent,
            settings=settings,
            windowing=recipe.windowing,
            n_distinct=len(found_forms),
        )
        return corpus.with_stems() if recipe.stem_keywords else corpus

    def with_stems(self) -> Corpus:
        """The same posts, with keywords that match every frequent form of their stem."""
        widened = {keyword.text: self._widened(keyword) for keyword in self.candidates}

        def widen(keywords: KeywordSet) -> KeywordSet:
            return KeywordSet(tuple(widened.get(keyword.text) or self._widened(keyword) for keyword in keywords))

        history = tuple(widen(keywords) for keywords in self.history)
        return self.with_candidates(widen(self.candidates)).with_history(history)

    def _widened(self, keyword: Keyword) -> Keyword:
        """A keyword with the forms of its stems; as it is when it has forms of its own, or is more than words."""
        if keyword.forms != (keyword.text,) or not keyword.is_plain:
            return keyword
        choices = []
        for word in normalise(keyword.text).split():
            stem = self.settings.stems([word])[0]
            known = self.vocabulary.keyword(stem).forms if stem in self.vocabulary else ()
            choices.append(dict.fromkeys((word, *known)))
        return Keyword(keyword.text, tuple(dict.fromkeys(" ".join(words) for words in product(*choices))))

    def extended(
        self,
        posts: HasBatches | Iterable[Post],
        keywords: KeywordSet | None = None,
        *,
        workers: int | None = None,
        progress: Progress = silent,
    ) -> Corpus:
        """The corpus with further posts, usually those of a new window.

        Old words keep their numbers, new frequent ones stand behind them. `keywords` were active in the new windows
        (default: those of the last window); they become candidates if they were not.
        """
        active = self.history[-1] if keywords is None else keywords
        corpus = self.with_candidates(self.candidates | active) if active - self.candidates else self
        recipe = Recipe(
            active,
            candidates=corpus.candidates,
            window=corpus.windowing,
            settings=corpus.settings,
            vocabulary=corpus.vocabulary,
            extend_vocabulary=True,
            adjacent=corpus.adjacent,
        )
        later = Corpus.made(posts, recipe, workers=workers, progress=progress)
        sets = dict(zip(later.windows, later.history, strict=True))
        sets |= dict(zip(corpus.windows, corpus.history, strict=True))
        starts = np.array([microseconds(window.start) for window in sets])
        windows, _ = corpus.windowing.assign(starts)
        first, second = (windows.index(part.windows[0]) for part in (corpus, later))
        n_posts = len(corpus.posts)
        documents = concatenated(corpus.documents.shifted(-first), later.documents.shifted(-second).moved(n_posts))
        order = time_order(documents)
        return replace(
            corpus,
            documents=documents.take(order),
            observed=Ragged.joined([corpus.observed, later.observed]).take(order),
            apart=merged(corpus.apart.shifted(-first), later.apart.shifted(-second).moved(n_posts)),
            vocabulary=later.vocabulary,
            windows=windows,
            history=tuple(sets.get(window, active) for window in windows),
            posts=PostTable(pa.concat_tables([corpus.posts.table, later.posts.table])),
            n_distinct=max(corpus.n_distinct, later.n_distinct),
        )


def _window_slice(documents: Documents, first: int, last: int) -> slice:
    """Where windows first … last - 1 lie: documents are in the order of time, so windows are contiguous."""
    return slice(*np.searchsorted(documents.window, [first, last]).tolist())


def _texts(posts: HasBatches | Iterable[Post], sink: PostSink) -> Iterator[pa.Array]:
    """The texts of the posts, a chunk at a time, on the way into the table."""
    waiting: list[pa.Array] = []
    for batch in as_batches(posts):
        sink.add(batch)
        waiting.append(batch.column("text"))
        if sum(map(len, waiting)) >= CHUNK_ROWS:
            yield pa.concat_arrays(waiting)
            waiting = []
    if waiting:
        yield pa.concat_arrays(waiting)
