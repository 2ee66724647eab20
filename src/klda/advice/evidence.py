"""What the history shows about every candidate, whatever the policy: its frequency, and the posts it will bring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from klda.advice.proposal import Example
from klda.corpus.corpus import Corpus
from klda.corpus.documents import offsets
from klda.corpus.tokens import normalise
from klda.errors import DataError
from klda.selection.arrays import Floats, Ints
from klda.selection.budget import Limits
from klda.selection.forecast import forecast_posts
from klda.selection.frequency import carrying_any, frequencies, union_window_counts, window_counts
from klda.selection.interval import Interval
from klda.selection.overlap import UnionVolume
from klda.types import Budget, Estimate, Keyword, KeywordSet

UNSEEN = 2
"""Posts on the subject without a current keyword, for each with one, where only the latter were collected. The first
lists of ten subjects of reddit_2013 caught a third of their subject's posts (recall 0.335 on average)."""
NEARLY_ALL = 0.9
FEWEST_APART = 100
"""Posts without any candidate that it takes to tell what is common elsewhere."""


@dataclass(frozen=True)
class Evidence:
    """Facts about the candidates of a history; a candidate is named by its column."""

    history: Corpus
    current: Ints  # (n,) columns
    required: Ints  # (r,) columns of those that the budget asks for

    @classmethod
    def of(cls, history: Corpus, current: KeywordSet, candidates: KeywordSet, budget: Budget) -> Evidence:
        """The evidence for these candidates, the current and the required keywords among them."""
        wanted = candidates | current | budget.required
        matched = history if history.candidates == wanted else history.with_candidates(wanted)
        if not len(matched):
            raise DataError("no post of the history carries a keyword or a candidate; check the keywords and the files")
        if not len(matched.window(-1)):
            raise DataError(
                f"no post of the last window ({history.windows[-1]}) carries a candidate; give posts of an earlier end"
            )
        return cls(matched, columns_of(wanted, current), columns_of(wanted, budget.required))

    @property
    def candidates(self) -> KeywordSet:
        """All that can be chosen, the current keywords among them."""
        return self.history.candidates

    @cached_property
    def last(self) -> Corpus:
        """The last window."""
        return self.history.window(-1)

    @cached_property
    def frequency(self) -> Floats:
        """Share of the last window's posts that carry each candidate. # (Q,)"""
        return frequencies(*_ragged(self.last), len(self.candidates))

    @cached_property
    def collected_only(self) -> bool:
        """Whether nearly all posts known from the last window carry a current keyword: a filter let nothing else in."""
        return float(self._has_current.mean()) >= NEARLY_ALL

    @cached_property
    def unseen(self) -> int:
        """Posts not seen for each that was collected; none are counted on without a sample to tell what is common."""
        return UNSEEN if self.collected_only and len(self.history.apart) >= FEWEST_APART else 0

    @cached_property
    def volume(self) -> Interval:
        """Posts that each candidate is expected to bring in the next window, those not seen so far included. # (Q,)"""
        windows = self.history.documents.window.astype(np.int64)
        counts = window_counts(*_ragged(self.history), windows, self.history.n_windows, len(self.candidates))
        seen = forecast_posts(counts.astype(np.float64))
        if not self.unseen:
            return seen
        more = np.full(len(self.candidates), 1.0 + self.unseen)
        more[self.current] = 1.0  # all posts with a current keyword were collected
        return Interval(seen.mean * more, seen.low * more, seen.high * more)

    @cached_property
    def union(self) -> UnionVolume:
        """Posts that any set of candidates is expected to bring, each post counted once.

        A filter does not show what it misses. Where only posts with a current keyword were collected, each stands for
        `UNSEEN` others that carry the same candidates and no current keyword.
        """
        indptr, columns = _ragged(self.last)
        if self.unseen:
            lists = np.split(columns, indptr[1:-1])
            others = [row[~np.isin(row, self.current)] for row in lists] * self.unseen
            columns = np.concatenate([columns, *others])
            indptr = offsets(np.array([len(row) for row in (*lists, *others)]))
        return UnionVolume.of(indptr, columns, self.volume.mean)

    @cached_property
    def _has_current(self) -> NDArray[np.bool_]:
        indptr, columns = _ragged(self.last)
        return carrying_any(indptr, columns, self.current)

    def expected_posts(self, columns: Ints) -> Estimate:
        """Posts that these candidates together are expected to bring in the next window.

        The mean is what budgets are held to; the interval is as wide, relatively, as that of their common history.
        """
        windows = self.history.documents.window.astype(np.int64)
        together = union_window_counts(*_ragged(self.history), windows, self.history.n_windows, columns)
        spread, mean = forecast_posts(together[None, :].astype(np.float64)).at(0), self.union.posts(columns)
        scale = mean / spread.mean if spread.mean else 1.0
        return Estimate(*(round(value, 1) for value in (mean, spread.low * scale, spread.high * scale)))

    def limits(self, budget: Budget) -> Limits:
        """The budget in terms of columns."""
        return limits_of(self.candidates, budget)

    @property
    def length(self) -> timedelta:
        """How long a window lasts."""
        return self.history.windows[-1].length

    def keywords(self, columns: Iterable[int]) -> KeywordSet:
        """The candidates at these columns, in that order."""
        return KeywordSet(tuple(self.candidates[int(column)] for column in columns))

    def columns(self, keywords: Iterable[Keyword]) -> Ints:
        """The columns of those of the keywords that are candidates, in that order."""
        return columns_of(self.candidates, keywords)

    def examples(self, column: int, n: int = 2) -> tuple[Example, ...]:
        """The latest posts that carry a candidate, no text twice."""
        documents = np.flatnonzero(self.last.observed.values == column)
        rows = self.last.documents.post[self.last.observed.rows[documents]]
        found: dict[str, Example] = {}
        for row in rows[::-1].tolist():
            post = self.last.posts[row]
            if not post.is_repost:
                found.setdefault(post.text, Example(post.id, post.text))
            if len(found) == n:
                break
        return tuple(found.values())


def limits_of(candidates: KeywordSet, budget: Budget) -> Limits:
    """A budget in terms of columns of the candidates; a word is forbidden in any of its forms."""
    words = {normalise(word) for word in budget.forbidden}
    banned = [not words.isdisjoint(map(normalise, (k.text, *k.forms))) for k in candidates]
    required = columns_of(candidates, budget.required)
    return Limits(
        max_keywords=budget.max_keywords,
        max_posts=budget.max_posts,
        max_terms=budget.max_terms,
        terms=np.array([len(keyword.forms) for keyword in candidates], dtype=np.float64),
        required=required,
        forbidden=np.setdiff1d(np.flatnonzero(banned), required),
    )


def columns_of(candidates: KeywordSet, keywords: Iterable[Keyword]) -> Ints:
    """The columns of those of the keywords that are candidates, in that order."""
    return np.array([candidates.index(k) for k in keywords if k in candidates], dtype=np.int64)


def _ragged(corpus: Corpus) -> tuple[Ints, Ints]:
    """Offsets and columns of the candidates that each document carries."""
    return corpus.observed.indptr, corpus.observed.values.astype(np.int64)
