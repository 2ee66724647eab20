"""Who writes, and what becomes of it: authors, their reach, and the engagement that follows from both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from klda.simulation.sentences import SYLLABLES
from klda.simulation.urn import Floats, Ints

FAITHFUL = 0.7
"""The share of an author's posts that are on the author's own subject."""


@dataclass(frozen=True)
class Engagement:
    """What came back for each post."""

    reposts: Ints
    likes: Ints
    replies: Ints
    quotes: Ints


@dataclass(frozen=True)
class People:
    """Authors with heavy-tailed reach and activity; author a favours subject a mod n_subjects."""

    handles: tuple[str, ...]
    followers: Ints
    following: Ints
    posts: Ints
    likes: Ints
    n_subjects: int

    @classmethod
    def of(cls, n: int, n_subjects: int, generator: np.random.Generator) -> People:
        """At least n authors, as many for each subject."""
        n = -(-n // n_subjects) * n_subjects
        followers = _lognormal(generator, 300, 1.8, n)
        return cls(
            handles=tuple(_handle(int(i)) for i in generator.permutation(n)),
            followers=followers,
            following=_lognormal(generator, 350, 1.0, n),
            posts=_lognormal(generator, 3000, 1.3, n),
            likes=(_lognormal(generator, 2500, 1.5, n) * (1 + followers) ** 0.1).astype(np.int64),
            n_subjects=n_subjects,
        )

    def authors(self, subject: Ints, generator: np.random.Generator) -> Ints:
        """An author for a post on each of these subjects: a few write most, and mostly on their own subject."""
        group = len(self.handles) // self.n_subjects
        rank = np.minimum(group ** generator.random(len(subject)), group).astype(np.int64) - 1
        stray = generator.random(len(subject)) >= FAITHFUL
        own = np.where(stray, generator.integers(self.n_subjects, size=len(subject)), subject)
        chosen: Ints = rank * self.n_subjects + own
        return chosen

    def engagement(
        self, author: Ints, heat: Floats, n_hashtags: Ints, linked: Ints, generator: np.random.Generator
    ) -> Engagement:
        """Reposts grow with the author's followers and the subject's heat; the rest grows with reposts."""
        reach = 0.6 * np.log1p(self.followers[author]) - 0.1 * np.log1p(self.following[author])
        luck = generator.normal(0.0, 0.8, len(author))
        appeal = np.exp(reach + heat + 0.15 * n_hashtags - 0.25 * linked + luck - 2.2)
        reposts = generator.poisson(appeal)
        likes = generator.poisson(appeal * np.exp(generator.normal(1.0, 0.4, len(author))))
        return Engagement(reposts, likes, generator.poisson(0.2 * appeal), generator.poisson(0.05 * appeal))

    def names(self) -> pa.Array:
        """The handles as an Arrow array."""
        return pa.array(self.handles, type=pa.string())


def _lognormal(generator: np.random.Generator, median: float, spread: float, n: int) -> Ints:
    drawn: Ints = np.exp(generator.normal(np.log(median), spread, n)).astype(np.int64)
    return drawn


def _handle(number: int) -> str:
    """A name for each number, no two alike: syllables start with consonants and end with vowels.

    >>> _handle(0), _handle(1), _handle(len(SYLLABLES) ** 2)
    ('baba', 'beba', 'baba1')
    """
    rest, first = divmod(number, len(SYLLABLES))
    rest, second = divmod(rest, len(SYLLABLES))
    return SYLLABLES[first] + SYLLABLES[second] + (str(rest) if rest else "")
