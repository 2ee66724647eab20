"""The subject that a list is about: as first asked for, as it is today, and what is said elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.corpus.corpus import Corpus
from klda.policies.evidence import Evidence
from klda.policies.word_counts import word_counts
from klda.selection.anchor import anchored_target, commonness, distinctive, subject_distance, subject_evidence
from klda.selection.arrays import Floats, Ints
from klda.selection.frequency import document_counts
from klda.selection.word_distribution import from_counts, mixture
from klda.types import KeywordSet

SMOOTHING = 100.0
"""Tokens of background that every estimate is mixed with."""
FOUNDING_WINDOWS = 2
FEWEST_OUTSIDE = 100
"""Posts without a current keyword that it takes to know what is common everywhere."""


@dataclass(frozen=True)
class Subject:
    """Word distributions of the subject and of what lies around it."""

    founding: Floats  # (V,)
    """What posts with the first keywords said in the first windows."""
    today: Floats  # (V,)
    """What posts with the current keywords said in the last window."""
    background: Floats  # (V,)
    """What all posts said; never 0."""
    outside: Floats | None  # (V,)
    """What posts without a current keyword said; None when all were collected by the list."""
    common: Floats | None  # (Q,)
    """How common each candidate is outside the subject: 0 only inside, ½ alike, 1 only outside."""
    protected: Ints
    """Columns of the first keywords: they are the subject, whatever happens to their words."""

    @classmethod
    def of(cls, evidence: Evidence, founding: KeywordSet | None = None) -> Subject:
        """The subject of a history; `founding` are its first keywords (default: those of the first window)."""
        history, last = evidence.history, evidence.last
        first = evidence.columns(founding if founding is not None else history.history[0])
        if not len(first):
            first = evidence.current  # none of the first keywords is a candidate any more
        everything = _with_apart(history) + 1.0
        background = everything / everything.sum()
        founded = _words(history.span(0, min(FOUNDING_WINDOWS, history.n_windows)), first)
        if not founded.sum():
            founded = _words(history, first)
        said_today = _words(last, evidence.current)
        elsewhere = _elsewhere(last, evidence.current)
        if elsewhere is None:  # a small sample of the stream fills up over the windows
            elsewhere = _elsewhere(history, evidence.current)
        return cls(
            founding=from_counts(founded, background, SMOOTHING),
            today=from_counts(said_today, background, SMOOTHING),
            background=background,
            outside=None if elsewhere is None else from_counts(elsewhere, background, SMOOTHING),
            common=None if elsewhere is None else _common(history, evidence.current),
            protected=first,
        )

    def distances(self, distributions: Floats) -> Floats:
        """Distance of each candidate's words (Q, V) from the founding subject, 0 to 1. # (Q,)"""
        return subject_distance(distributions, self.founding)

    def target(self, anchor: float) -> Floats:
        """What a list should retain: today's words and the founding ones, less what is said everywhere. # (V,)"""
        kept = anchored_target(self.today, self.founding, anchor)
        return kept if self.outside is None else distinctive(kept, self.outside)

    def relevance(self, distributions: Floats, anchor: float) -> Floats:
        """How much each candidate's words (Q, V) speak for the subject: 0 as posts outside do, 1 as its own do. # (Q,)

        Where nothing is known about posts outside, how close it is to the founding subject.
        """
        if self.outside is None:
            return 1 - self.distances(distributions)
        kept = anchored_target(self.today, self.founding, anchor)
        none, full = subject_evidence(np.vstack([self.outside, kept]), kept, self.outside)
        speaks = subject_evidence(distributions, kept, self.outside)
        return np.asarray(np.clip((speaks - none) / (full - none), 0.0, 1.0))

    def new_ground(self, distributions: Floats, rates: Floats, anchor: float) -> Floats:
        """What candidates that speak for the subject bring beyond the target, against today's posts. # (V,)

        `rates` (Q,) are the posts that each brings for every post of today's list, weighted by its relevance.
        """
        if not rates.any():
            return np.zeros(distributions.shape[1])
        elsewhere = self.background if self.outside is None else self.outside
        brought = rates.sum() * distinctive(mixture(distributions, rates), elsewhere)
        return np.asarray(np.maximum(brought - self.target(anchor), 0.0))


def _elsewhere(corpus: Corpus, current: Ints) -> Floats | None:
    """How often each word occurs in posts without a current keyword; None when too few of them are known. # (V,)"""
    if len(_outside(corpus, current)) + len(corpus.apart) < FEWEST_OUTSIDE:
        return None
    return _with_apart(corpus) - _words(corpus, current)


def _words(corpus: Corpus, columns: Ints) -> Floats:
    return word_counts(corpus.take(corpus.carrying([corpus.candidates[int(column)] for column in columns])))


def _with_apart(corpus: Corpus) -> Floats:
    """How often each word occurs in all posts, also those without a candidate. # (V,)"""
    apart = np.bincount(corpus.apart.words, corpus.apart.counts, len(corpus.vocabulary))
    return word_counts(corpus) + apart


def _common(history: Corpus, current: Ints) -> Floats:
    """How common each candidate is in posts without a current keyword, over the whole history. # (Q,)"""
    outside = _outside(history, current)
    inside = np.setdiff1d(np.arange(len(history)), outside)
    return commonness(
        _carrying(history, inside), len(inside), _carrying(history, outside), len(outside) + len(history.apart)
    )


def _outside(corpus: Corpus, current: Ints) -> Ints:
    """The documents without a current keyword."""
    inside = corpus.carrying([corpus.candidates[int(column)] for column in current])
    return np.setdiff1d(np.arange(len(corpus)), inside)


def _carrying(corpus: Corpus, documents: Ints) -> Floats:
    """How many of these documents carry each candidate. # (Q,)"""
    columns = corpus.observed.take(documents).values.astype(np.int64)
    return document_counts(columns, len(corpus.candidates)).astype(np.float64)
