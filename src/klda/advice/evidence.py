"""What the history shows about every candidate, whatever the policy: its frequency, and the posts it will bring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

import numpy as np

from klda.advice.budget import Limits
from klda.advice.constants import FEWEST_OUTSIDE
from klda.advice.explanation import Example
from klda.advice.frequency import frequencies
from klda.advice.interval import Interval
from klda.advice.overlap import UnionVolume
from klda.advice.situation import Situation
from klda.advice.spelling import no_post_has
from klda.advice.volume import Seen, collected, recent_spans, weights
from klda.arrays import Floats, Ints
from klda.errors import DataError
from klda.text.corpus import Corpus
from klda.text.tokens import normalise
from klda.types import Budget, Estimate, Keyword, KeywordSet


@dataclass(frozen=True)
class Evidence:
    """Facts about the candidates of a history; a candidate is named by its column."""

    history: Corpus
    current: Ints  # (n,) columns
    required: Ints  # (r,) columns of those that the budget asks for
    sample_share: float = 1.0
    """The known share of the posts that no list collected."""

    @classmethod
    def of(cls, situation: Situation) -> Evidence:
        """The evidence for the candidates of a situation, the current and the required keywords among them."""
        history, current, required = situation.history, situation.current, situation.budget.required
        wanted = situation.candidates | current | required
        matched = history if history.candidates == wanted else history.with_candidates(wanted)
        if not len(matched):
            raise DataError(no_post_has(current, history.vocabulary))
        if not len(matched.window(-1)):
            raise DataError(
                f"no post from {history.windows[-1]} on has a keyword or a candidate; give only the posts before"
            )
        return cls(matched, columns_of(wanted, current), columns_of(wanted, required), situation.sample_share)

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
    def outside_known(self) -> bool:
        """Whether enough recent posts without a keyword are known. A filtered collection has none."""
        recent = self.history.span(recent_spans(self.history, self.keywords(self.current))[0])
        n_outside = len(recent) + len(recent.apart) - int(collected(recent, self.current).sum())
        return n_outside >= FEWEST_OUTSIDE

    @cached_property
    def seen(self) -> Seen:
        """The posts of each window by the candidates that they carry, weighted by the posts that each stands for."""
        return Seen.of(self.history, weights(self.history, self.current, self.sample_share))

    @cached_property
    def volume(self) -> Interval:
        """Posts that each candidate is expected to bring in the next window. # (Q,)"""
        return self.seen.forecast(len(self.candidates))

    @cached_property
    def union(self) -> UnionVolume:
        """Posts that any set of candidates is expected to bring, each post counted once."""
        return self.seen.union(len(self.candidates))

    def expected_posts(self, columns: Ints) -> Estimate:
        """Posts that these candidates together are expected to bring in the next window."""
        return self.seen.expected(columns)

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
