"""Volume alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.baselines.ranked import Ranking, RankingPolicy
from klda.types import Progress


@dataclass
class Frequent(RankingPolicy):
    """The candidates that most posts of the last window carry, whatever they are about."""

    name = "frequent"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """The frequency of every candidate."""
        shares = evidence.frequency.tolist()
        return Ranking(evidence.frequency, [f"in {share:.1%} of the last window's posts" for share in shares])
