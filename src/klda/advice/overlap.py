"""Expected posts of a keyword set, and which keyword brings them, counting a post with several keywords once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klda.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class UnionVolume:
    """Posts that next window is expected to bring for any set of keywords.

    Posts with the same keywords form one pattern, of which so many are expected. A set brings the patterns that carry
    any of its keywords: monotone and submodular. The posts of a pattern are credited to its chosen keywords in equal
    parts.

    >>> volume = UnionVolume(np.array([3.0, 1.0, 5.0]), np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), 3)
    >>> volume.posts(np.array([0])), volume.posts(np.array([0, 1])), volume.posts(np.array([0, 1, 2]))
    (3.0, 4.0, 9.0)
    >>> volume.credit(np.array([0, 1]))  # three posts are common to both
    array([1.5, 2.5])
    """

    documents: Floats  # (patterns,)  expected posts of each
    pattern: Ints  # (entries,)
    keyword: Ints  # (entries,)
    n_candidates: int

    @classmethod
    def disjoint(cls, expected: Floats) -> UnionVolume:
        """As if no post ever carried two keywords: the expected posts add up."""
        every = np.arange(len(expected))
        return cls(np.asarray(expected, dtype=np.float64), every, every, len(expected))

    @cached_property
    def expected(self) -> Floats:
        """Posts of each keyword by itself. # (Q,)"""
        return self._sums(self.keyword, self.documents[self.pattern])

    def posts(self, keywords: Ints) -> float:
        """Expected posts of a set."""
        return float(self.documents[self._reached(keywords)].sum())

    def credit(self, keywords: Ints) -> Floats:
        """Expected posts credited to each keyword of a set; they sum to its posts. # (n,)"""
        mine = np.isin(self.keyword, keywords)
        sharers = np.bincount(self.pattern[mine], minlength=len(self.documents))
        part = (self.documents / np.maximum(sharers, 1))[self.pattern]
        return self._sums(self.keyword[mine], part[mine])[keywords]

    def added(self, keywords: Ints) -> Floats:
        """Expected posts that each further keyword would add to a set. # (Q,)"""
        new = ~self._reached(keywords)[self.pattern]
        return self._sums(self.keyword[new], self.documents[self.pattern[new]])

    def _reached(self, keywords: Ints) -> Bools:
        """Which patterns carry any of these keywords. # (patterns,)"""
        reached = np.zeros(len(self.documents), dtype=np.bool_)
        reached[self.pattern[np.isin(self.keyword, keywords)]] = True
        return reached

    def _sums(self, keyword: Ints, values: Floats) -> Floats:
        return np.bincount(keyword, weights=values, minlength=self.n_candidates).astype(np.float64)
