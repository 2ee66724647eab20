"""Counting words: the strongest simple method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.word_counts import keyword_word_counts, word_counts
from klda.advice.word_distribution import from_counts
from klda.arrays import Floats
from klda.baselines.scored import ScoredPolicy
from klda.types import Progress


@dataclass
class Counting(ScoredPolicy):
    """Words of the posts that carry a keyword, recent windows first, compared as they stand.

    A window counts half as much as one `half_life` windows later; counts are smoothed by `smoothing` tokens of the
    recent background.
    """

    half_life: float = 0.7
    smoothing: float = 100.0

    name = "counting"
    scored_as_measured = False

    def estimate(
        self,
        evidence: Evidence,
        background: Floats,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Floats:
        """Smoothed counts, weighted by recency. # (Q, V)"""
        recent = from_counts(word_counts(evidence.history, self.half_life), background, 1.0)
        return from_counts(keyword_word_counts(evidence.history, self.half_life), recent, self.smoothing)


@dataclass
class CountingScored(Counting):
    """The same counts as `counting`, compared as next window will measure them: under its sample size."""

    name = "counting-scored"
    scored_as_measured = True
