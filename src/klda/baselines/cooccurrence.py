"""Co-occurrence with the current list beyond chance: the score of KeySelect, without its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.arrays import Floats
from klda.baselines.incidence import candidates_in
from klda.baselines.ranked import Ranking, RankingPolicy
from klda.types import Progress


@dataclass
class CoOccurrence(RankingPolicy):
    """Candidates that stand in the same posts as the list's keywords more often than chance would have it.

    KeySelect counts co-occurrence with accepted words and subtracts that with rejected ones. Without labels, the
    co-occurrence by chance is subtracted: of the N posts of the last window, with and without a candidate, n_k n_c / N
    would have both keyword and candidate. The score sums over the current keywords how far the posts with both exceed
    that, in standard deviations. A keyword co-occurs with itself.
    """

    name = "cooccurrence"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """The excess over chance of every candidate."""
        carried = candidates_in(evidence.last)  # (D, Q)
        both = (carried[:, evidence.current].T @ carried).toarray()  # (n, Q)
        posts = np.asarray(carried.sum(axis=0))  # (Q,)
        chance = np.outer(posts[evidence.current], posts) / (len(evidence.last) + len(evidence.last.apart))  # (n, Q)
        beyond = beyond_chance(both, chance)
        others = np.where(evidence.current[:, None] == np.arange(len(posts)), -np.inf, beyond)  # (n, Q)
        reasons = [
            _reason(evidence, others[:, column], both[:, column], chance[:, column]) for column in range(len(posts))
        ]
        return Ranking(np.maximum(beyond, 0).sum(axis=0), reasons, affinity=beyond)


def beyond_chance(both: Floats, chance: Floats) -> Floats:
    """How many standard deviations counts lie above chance. One more post is expected, which damps rare words.

    >>> beyond_chance(np.array([8.0, 1.0]), np.array([3.0, 0.0]))
    array([2.5, 1. ])
    """
    return np.asarray((both - chance) / np.sqrt(chance + 1))


def _reason(evidence: Evidence, beyond: Floats, both: Floats, chance: Floats) -> str:
    row = int(beyond.argmax())
    if not np.isfinite(beyond[row]):
        return "the only keyword of the list"
    keyword = evidence.candidates[int(evidence.current[row])].text
    n = int(both[row])
    return f"in {n:,} post{'' if n == 1 else 's'} with {keyword}, where chance would give {chance[row]:,.1f}"
