"""How simulated people behave: what they talk about each week, who writes, and how often posts are passed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from klda.simulation.sentences import SYLLABLES
from klda.simulation.simulated_subjects import SimulatedSubject
from klda.simulation.urn import Floats, Ints, zipf

CHATTER_SHARE = 0.4
THREAD_SWING, WORD_SWING, SUBJECT_SWING = 1.2, 0.9, 0.25
"""How far, in logarithms, threads, words and subjects rise above and fall below their usual share."""
BREAKING_WEIGHT = 6.0
"""Weight of a new story, in ordinary threads."""
FAITHFUL = 0.7
"""The share of an author's posts that are on the author's own subject."""


@dataclass(frozen=True)
class Trends:
    """Waves, one for each thread, subject and word. The last subject is the background."""

    thread_subject: Ints  # (threads,)  the subject of each thread
    breaks: Floats  # (threads,)  the week in which each thread begins, -inf for those that always were
    thread_wave: Floats  # (2, threads)  period in weeks, phase
    subject_wave: Floats  # (2, subjects)
    word_wave: Floats  # (2, sources, words)

    @classmethod
    def of(
        cls,
        subjects: Sequence[SimulatedSubject],
        emergence: int,
        words: tuple[int, int],
        generator: np.random.Generator,
    ) -> Trends:
        """Trends of these subjects. `words` is the number of sources and of words."""
        threads = [(s, t) for s, subject in enumerate(subjects) for t in range(len(subject.threads))]
        emerges = [subjects[s].threads[t].emerges for s, t in threads]
        # the threads of a subject peak one after the other, so that its talk changes
        order = np.array([t / len(subjects[s].threads) for s, t in threads])
        phase = order + generator.random(len(subjects))[[s for s, _ in threads]]
        return cls(
            np.array([s for s, _ in threads]),
            np.array([-np.inf if after is None else emergence + after for after in emerges]),
            np.stack([generator.uniform(18, 28, len(threads)), phase]),
            np.stack([generator.uniform(15, 40, len(subjects)), generator.random(len(subjects))]),
            np.stack([generator.uniform(16, 40, words), generator.random(words)]),
        )

    def thread_shares(self, week: int) -> Floats:
        """The share of each thread among the posts of a week. # (threads,)"""
        ordinary, breaking = self._weights(week)
        n_subjects = self.subject_wave.shape[1]
        usual = np.bincount(self.thread_subject, ordinary, n_subjects)
        extra = np.bincount(self.thread_subject, breaking, n_subjects)
        attention = np.append(zipf(n_subjects - 1, 0.4) * (1 - CHATTER_SHARE), CHATTER_SHARE)
        # a new story takes room within its subject, and brings the subject new attention
        attention *= np.exp(SUBJECT_SWING * _height(self.subject_wave, week)) * (1 + 0.5 * extra / usual)
        within = (ordinary + breaking) / (usual + extra)[self.thread_subject]
        shares: Floats = within * (attention / attention.sum())[self.thread_subject]
        return shares

    def heat(self, week: int) -> Floats:
        """How eagerly posts of each thread are passed on: more while it rises, most when it is new. # (threads,)"""
        now, before = sum(self._weights(week)), sum(self._weights(week - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = np.where(now > 0, np.log(now / before), 0.0)
        return np.clip(2.0 * growth, -1.0, 1.5)

    def drifted(self, base: Floats, week: int) -> Floats:
        """Word distributions after drifting until a week. # (threads, sources, words)"""
        moved = base * np.exp(WORD_SWING * _height(self.word_wave, week))
        moved /= moved.sum(axis=2, keepdims=True)
        return moved

    def _weights(self, week: int) -> tuple[Floats, Floats]:
        """Weights of the ordinary threads, and of the new story. Each is zero for threads of the other kind."""
        age = week - self.breaks
        ordinary = np.where(np.isinf(age), np.exp(THREAD_SWING * _height(self.thread_wave, week)), 0.0)
        young = np.isfinite(age) & (age >= 0)
        passed = np.where(young, age, 0.0)
        return ordinary, np.where(young, BREAKING_WEIGHT * (1 - 0.75 * 0.6**passed) * 0.96**passed, 0.0)


def _height(wave: Floats, week: int) -> Floats:
    period, phase = wave
    height: Floats = np.sin(2 * np.pi * (week / period + phase))
    return height


@dataclass(frozen=True)
class Engagement:
    """Reactions to each post."""

    reposts: Ints
    likes: Ints
    replies: Ints
    quotes: Ints


@dataclass(frozen=True)
class People:
    """Authors, a few with very many followers and posts. Author a prefers subject a mod n_subjects."""

    handles: tuple[str, ...]
    followers: Ints
    following: Ints
    posts: Ints
    likes: Ints
    n_subjects: int

    @classmethod
    def of(cls, n: int, n_subjects: int, generator: np.random.Generator) -> People:
        """At least n authors, with equal numbers for each subject."""
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
        """An author for a post on each of these subjects. A few write most posts, mostly on their own subject."""
        group = len(self.handles) // self.n_subjects
        rank = np.minimum(group ** generator.random(len(subject)), group).astype(np.int64) - 1
        stray = generator.random(len(subject)) >= FAITHFUL
        own = np.where(stray, generator.integers(self.n_subjects, size=len(subject)), subject)
        chosen: Ints = rank * self.n_subjects + own
        return chosen

    def engagement(
        self, author: Ints, heat: Floats, n_hashtags: Ints, linked: Ints, generator: np.random.Generator
    ) -> Engagement:
        """Reactions to each post.

        Reposts grow with the author's followers and the subject's heat, the rest with reposts.
        """
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
    """A unique name for each number. Syllables start with consonants and end with vowels.

    >>> _handle(0), _handle(1), _handle(len(SYLLABLES) ** 2)
    ('baba', 'beba', 'baba1')
    """
    rest, first = divmod(number, len(SYLLABLES))
    rest, second = divmod(rest, len(SYLLABLES))
    return SYLLABLES[first] + SYLLABLES[second] + (str(rest) if rest else "")
