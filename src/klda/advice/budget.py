"""The limits of a keyword set: numbers of keywords, terms and posts, required words and forbidden ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from klda.arrays import Bools, Floats, Ints
from klda.errors import DataError, SettingError


def _none() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Limits:
    """A budget over columns of the candidates; None means without limit."""

    max_keywords: int | None = None
    max_posts: float | None = None
    """Expected posts a window."""
    max_terms: float | None = None
    terms: Floats | None = None  # (Q,)
    """How much of a platform's limit each keyword uses: its surface forms, or its characters. One each by default."""
    required: Ints = field(default_factory=_none)
    forbidden: Ints = field(default_factory=_none)

    def terms_of(self, n_candidates: int) -> Floats:
        """How much of `max_terms` each candidate uses. # (Q,)"""
        return np.ones(n_candidates) if self.terms is None else np.asarray(self.terms, dtype=np.float64)

    def room(self, chosen: Ints, posts: float, added_posts: Floats) -> Bools:
        """Which candidates may join `chosen`. The set has `posts`; each candidate would add `added_posts` (Q,). # (Q,)

        >>> Limits(max_posts=10, forbidden=np.array([2])).room(np.array([0]), 4.0, np.array([0.0, 7.0, 1.0, 6.0]))
        array([False, False, False,  True])
        """
        n = len(added_posts)
        may = np.ones(n, dtype=np.bool_)
        may[chosen] = False
        may[self.forbidden] = False
        if self.max_keywords is not None and len(chosen) >= self.max_keywords:
            may[:] = False
        if self.max_terms is not None:
            terms = self.terms_of(n)
            may &= terms[chosen].sum() + terms <= self.max_terms
        if self.max_posts is not None:
            may &= posts + added_posts <= self.max_posts * (1 + 1e-12)  # sums of floats in another order
        return may

    def allow(self, chosen: Ints, posts: float, n_candidates: int) -> bool:
        """Whether a set with these expected posts is within the limits and has all required words."""
        return self.excess(chosen, posts, n_candidates) is None and set(self.required.tolist()) <= set(chosen.tolist())

    def excess(self, chosen: Ints, posts: float, n_candidates: int) -> str | None:
        """The first limit that a set breaks, in words; None if it breaks none."""
        if set(self.forbidden.tolist()) & set(chosen.tolist()):
            return "a forbidden keyword is in it"
        return self.over(chosen, posts, n_candidates)

    def over(self, chosen: Ints, posts: float, n_candidates: int) -> str | None:
        """The first limit that a set exceeds, in words; None if it exceeds none.

        >>> Limits(max_posts=150).over(np.array([0, 2]), posts=290.2, n_candidates=3)
        '290 expected posts, 150 allowed'
        """
        if self.max_keywords is not None and len(chosen) > self.max_keywords:
            return f"{len(chosen)} keywords, {self.max_keywords} allowed"
        terms = self.terms_of(n_candidates)[chosen].sum()
        if self.max_terms is not None and terms > self.max_terms:
            return f"{terms:g} terms, {self.max_terms:g} allowed"
        if self.max_posts is not None and posts > self.max_posts * (1 + 1e-12):
            return f"{posts:.0f} expected posts, {self.max_posts:g} allowed"
        return None

    def why_not(self, column: int, together: Ints, posts: float, n_candidates: int) -> str | None:
        """Why a keyword may not join a list, in words, from the posts of both together; None if it may.

        >>> Limits(max_keywords=1).why_not(2, np.array([0, 2]), posts=9, n_candidates=3)
        'no room for it beside the rest of the list (2 keywords, 1 allowed)'
        """
        if column in self.forbidden:
            return "forbidden"
        over = self.over(together, posts, n_candidates)
        return None if over is None else f"no room for it beside the rest of the list ({over})"

    def check_required(self, posts: float, n_candidates: int) -> None:
        """Raises an error if the required keywords alone, with these expected posts, break a limit."""
        problem = self.excess(np.unique(self.required), posts, n_candidates)
        if problem is not None:
            raise SettingError(f"the required keywords alone break the budget: {problem}; require fewer or allow more")


def check_some(chosen: Ints) -> None:
    """Raises an error if the limits leave no keyword at all."""
    if not len(chosen):
        raise DataError("no keyword fits the budget; raise max_posts or max_terms, or forbid fewer words")
