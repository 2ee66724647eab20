"""What a filter shows about itself: which keywords keep each other's company, and which words break out beside several.

A collector that sees nothing but its own posts cannot tell what is common elsewhere. It can tell that posts with
`privacy` often carry another of its keywords and posts with `facebook` hardly ever do: the first is a word of the
subject, the second one of everything. And a word that bursts beside most of the keywords at once is news of the
subject, while one that bursts beside a single keyword is that keyword's own affair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.selection.arrays import Bools, Floats, Ints

STRANGE = 0.5
"""A keyword is a stranger when its company is below so much of what is usual on the list."""
FEWEST_POSTS = 20.0
FEWEST_KEYWORDS = 5
"""First keywords that it takes to judge one of them: three words may well divide a subject between them."""
BURST = 6.0
"""Standard deviations above the windows before."""
FEWEST_BURSTING = 8
BESIDE = 2
"""Posts in which a bursting word must be seen beside a keyword for that keyword to count."""


@dataclass(frozen=True)
class Company:
    """How many posts each keyword brought, and how many of them carried another of the first keywords; all (n,)."""

    posts: Floats
    accompanied: Floats
    first: Bools
    """Whether it is one of the first keywords itself."""

    @property
    def rate(self) -> Floats:
        """Share of posts in company. # (n,)"""
        return np.asarray(self.accompanied / np.maximum(self.posts, 1.0))

    @property
    def usual(self) -> float:
        """The mean company of the first keywords still on the list, a few doubtful posts allowed for."""
        rates = (self.accompanied + 1.0) / (self.posts + 10.0)
        return float(np.mean(rates[self.first])) if self.first.any() else 0.0


def company(observed: Bools, first: Bools, active: Bools, weight: Floats) -> Company:
    """The company of keywords in posts that they themselves brought.

    `observed` (D, n) says which keywords posts carry, `first` (n,) which keywords the subject was first asked for with,
    `active` (D, n) which were on the list when a post was collected, `weight` (D,) how much a post counts.

    >>> posts = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]], dtype=bool)
    >>> company(posts, np.ones(3, bool), np.ones((4, 3), bool), np.ones(4)).rate
    array([0.5, 1. , 0. ])
    """
    others = (observed & first).sum(axis=1)[:, None] - (observed & first)  # (D, n)
    counted = weight[:, None] * (observed & active)  # (D, n)
    return Company(counted.sum(axis=0), (counted * (others > 0)).sum(axis=0), first)


def strangers(known: Company) -> Bools:
    """Keywords whose posts carry another keyword of the subject far less often than usual, beyond doubt. # (n,)

    >>> strangers(Company(np.array([100.0, 90.0, 900.0]), np.array([30.0, 20.0, 20.0]), np.ones(3, bool)))
    array([False, False,  True])
    """
    doubt = np.where(known.first, 2.0, 1.0) * np.sqrt(known.accompanied + 1.0)
    at_most = (known.accompanied + doubt) / np.maximum(known.posts, 1.0)
    return np.asarray((known.posts >= FEWEST_POSTS) & (at_most < STRANGE * known.usual))


def shared_bursts(counts: Floats, beside: Ints, n_listed: int) -> Bools:
    """Words that burst in the last window beside at least half of the keywords, and at least two. # (Q,)

    `counts` (Q, windows) are posts a window; `beside` (Q,) is beside how many of the `n_listed` first keywords that are
    still on the list each word was seen in the last window, at least `BESIDE` times.

    >>> shared_bursts(np.array([[0, 1, 30], [0, 1, 30], [20, 22, 30]]), np.array([4, 1, 4]), n_listed=6)
    array([ True, False, False])
    """
    if counts.shape[1] < 3:
        return np.zeros(len(counts), dtype=np.bool_)
    before = counts[:, -7:-1].mean(axis=1)
    rise = (counts[:, -1] - before) / np.sqrt(before + 1.0)
    return np.asarray((rise > BURST) & (counts[:, -1] >= FEWEST_BURSTING) & (beside >= max(2, (n_listed + 1) // 2)))
