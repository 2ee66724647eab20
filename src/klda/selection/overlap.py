"""Expected posts of a keyword set, and which keyword brings them, counting a post with several keywords once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from klda.selection.arrays import Floats, Ints


@dataclass(frozen=True)
class Share:
    """The posts of a chosen set, and what each further keyword would change."""

    posts: float
    credit: Floats  # (n,)  posts credited to each chosen keyword; they sum to `posts`
    added_posts: Floats  # (Q,)  posts that a further keyword would add
    own_credit: Floats  # (Q,)  posts that would be credited to it
    moved_credit: Floats  # (Q, n)  what the credit of each chosen keyword would change by: shared posts are split anew


@dataclass(frozen=True)
class UnionVolume:
    """Posts that next window is expected to bring for any set of keywords, from recent documents and a forecast.

    Recent documents with the same keywords form one pattern. A keyword expected to bring r times its recent posts
    brings r posts for each recent one, and a pattern brings as many as the most generous of its chosen keywords says:

        posts(U) = Σ_patterns n · max{r_q : q ∈ U carried by the pattern}

    which is the forecast itself for one keyword, and the number of documents for a set when nothing changes; it is
    monotone and submodular. The posts of a pattern are credited to its chosen keywords in equal parts. A keyword
    without recent documents adds its forecast as it stands.

    >>> volume = UnionVolume.of(np.array([0, 2, 3, 4]), np.array([0, 1, 1, 0]), expected=np.array([4.0, 2.0, 5.0]))
    >>> volume.posts(np.array([0])), volume.posts(np.array([0, 1])), volume.posts(np.array([0, 1, 2]))
    (4.0, 5.0, 10.0)
    >>> volume.share(np.array([0, 1])).credit  # two posts are common to both
    array([3., 2.])
    """

    expected: Floats  # (Q,)
    ratio: Floats  # (Q,)  expected posts for each recent one; 0 without recent documents
    documents: Floats  # (patterns,)  recent documents of each
    pattern: Ints  # (entries,)
    keyword: Ints  # (entries,)
    left: Ints  # (pairs,)  entry of a keyword
    right: Ints  # (pairs,)  entry of another keyword in the same pattern

    @classmethod
    def of(cls, indptr: Ints, ids: Ints, expected: Floats) -> UnionVolume:
        """From the keywords observed in recent documents (ascending within each) and expected posts (Q,)."""
        keys = Counter(ids[start:stop].tobytes() for start, stop in pairwise(indptr.tolist()) if stop > start)
        rows = [np.frombuffer(key, dtype=ids.dtype).astype(np.int64) for key in keys]
        documents = np.fromiter(keys.values(), dtype=np.float64, count=len(keys))
        pattern = np.repeat(np.arange(len(rows)), np.array([len(row) for row in rows], dtype=np.int64))
        return cls.of_patterns(documents, pattern, np.concatenate([np.empty(0, dtype=np.int64), *rows]), expected)

    @classmethod
    def of_patterns(cls, documents: Floats, pattern: Ints, keyword: Ints, expected: Floats) -> UnionVolume:
        """From patterns that are known already: the recent documents of each, and its keywords, entry by entry."""
        lengths = np.bincount(pattern, minlength=len(documents))
        recent = np.bincount(keyword, weights=documents[pattern], minlength=len(expected))  # (Q,)
        left = np.repeat(np.arange(len(keyword)), lengths[pattern])
        first = np.repeat(np.cumsum(lengths) - lengths, lengths**2)  # where the pattern of each pair begins
        within = np.arange(len(left)) - np.repeat(np.cumsum(lengths**2) - lengths**2, lengths**2)
        right = first + within % np.repeat(lengths, lengths**2)
        differ = left != right
        ratio = np.divide(expected, recent, out=np.zeros(len(expected)), where=recent > 0)
        return cls(
            np.asarray(expected, dtype=np.float64), ratio, documents, pattern, keyword, left[differ], right[differ]
        )

    @classmethod
    def disjoint(cls, expected: Floats) -> UnionVolume:
        """As if no post ever carried two keywords: the expected posts add up."""
        return cls.of(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), expected)

    def posts(self, keywords: Ints) -> float:
        """Expected posts of a set."""
        return float(self.credit(keywords).sum())

    def credit(self, keywords: Ints) -> Floats:
        """Expected posts credited to each keyword of a set, as `share` has it, without what a further one would change.

        Only the entries of the set are looked at: the way to weigh many sets. # (n,)
        """
        position = np.full(len(self.expected), -1)
        position[keywords] = np.arange(len(keywords))
        at = position[self.keyword]
        mine = np.flatnonzero(at >= 0)
        pattern, ratio = self.pattern[mine], self.ratio[self.keyword[mine]]
        reached = np.zeros(len(self.documents))  # (patterns,)
        np.maximum.at(reached, pattern, ratio)
        sharers = np.bincount(pattern, minlength=len(self.documents))
        part = (self.documents * reached / np.maximum(sharers, 1))[pattern]
        alone = np.where(self.ratio[keywords] == 0, self.expected[keywords], 0.0)
        return _sums(at[mine], part, len(keywords)) + alone

    def share(self, keywords: Ints) -> Share:
        """Who brings the posts of a set, and what one more keyword would change, for all candidates at once."""
        n_candidates, n = len(self.expected), len(keywords)
        position = np.full(n_candidates, -1)
        position[keywords] = np.arange(n)
        at = position[self.keyword]  # (entries,)
        chosen = at >= 0
        ratio = self.ratio[self.keyword]  # (entries,)
        reached = np.zeros(len(self.documents))  # (patterns,)
        np.maximum.at(reached, self.pattern[chosen], ratio[chosen])
        sharers = np.bincount(self.pattern[chosen], minlength=len(self.documents))  # (patterns,)

        now = (self.documents * reached / np.maximum(sharers, 1))[self.pattern]  # each sharer's part  (entries,)
        higher = np.maximum(ratio, reached[self.pattern])
        documents = self.documents[self.pattern]
        then = documents * higher / (sharers[self.pattern] + 1)  # its part when the entry's keyword joins  (entries,)
        more = documents * (higher - reached[self.pattern])

        moving = chosen[self.right]
        left, right = self.left[moving], self.right[moving]
        moved = _sums(self.keyword[left] * n + at[right], then[left] - now[left], n_candidates * n)
        unseen = self.ratio == 0
        credit = _sums(at[chosen], now[chosen], n) + np.where(unseen[keywords], self.expected[keywords], 0.0)
        return Share(
            posts=float(credit.sum()),
            credit=credit,
            added_posts=np.where(unseen, self.expected, _sums(self.keyword, more, n_candidates)),
            own_credit=np.where(unseen, self.expected, _sums(self.keyword, then, n_candidates)),
            moved_credit=moved.reshape(n_candidates, n),
        )


def _sums(group: Ints, values: Floats, n_groups: int) -> Floats:
    """The sum of the values of each group. # (n_groups,)"""
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64)
