"""What is talked about when: threads that rise and fall, words that come and go, a story that breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klda.simulation.cast import SimulatedSubject
from klda.simulation.urn import Floats, Ints, zipf

CHATTER_SHARE = 0.4
THREAD_SWING, WORD_SWING, SUBJECT_SWING = 1.2, 0.9, 0.25
"""How far, in logarithms, threads, words and subjects rise above and fall below their usual share."""
BREAKING_WEIGHT = 6.0
"""What a story that broke comes to weigh, in ordinary threads."""


@dataclass(frozen=True)
class Trends:
    """Waves, one for each thread, subject and word; the last subject is the background."""

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
        """Trends of these subjects; `words` is the number of sources and of words."""
        threads = [(s, t) for s, subject in enumerate(subjects) for t in range(len(subject.threads))]
        emerges = [subjects[s].threads[t].emerges for s, t in threads]
        # threads of a subject peak one after the other, so that its talk moves on
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
        # a story that breaks takes room within its subject and brings the subject new attention
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
        """Word distributions as they have become by that week. # (threads, sources, words)"""
        moved = base * np.exp(WORD_SWING * _height(self.word_wave, week))
        moved /= moved.sum(axis=2, keepdims=True)
        return moved

    def _weights(self, week: int) -> tuple[Floats, Floats]:
        """Weights of the threads that always were, and of those that broke; each zero where the other is not."""
        age = week - self.breaks
        ordinary = np.where(np.isinf(age), np.exp(THREAD_SWING * _height(self.thread_wave, week)), 0.0)
        young = np.isfinite(age) & (age >= 0)
        passed = np.where(young, age, 0.0)
        return ordinary, np.where(young, BREAKING_WEIGHT * (1 - 0.75 * 0.6**passed) * 0.96**passed, 0.0)


def _height(wave: Floats, week: int) -> Floats:
    period, phase = wave
    height: Floats = np.sin(2 * np.pi * (week / period + phase))
    return height
