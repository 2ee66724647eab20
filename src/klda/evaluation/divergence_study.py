"""How much the choice of a divergence changes the lists of Algorithm 2. The paper says that it changes them little.

Which candidates qualify does not depend on the divergence, so that the lists of two divergences are equally long and
their overlap is the share of words they have in common. If few candidates qualify, the overlap is large for any
divergence. So the overlap of two random orders is given beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from klda.advice.advise import KLDAPolicy
from klda.advice.evidence import Evidence
from klda.advice.situation import Situation
from klda.arrays import Floats, Ints
from klda.baselines.algorithm2 import extend
from klda.baselines.counting import Counting
from klda.baselines.divergences import DIVERGENCES
from klda.baselines.scored import background_of
from klda.evaluation.open_loop import Case
from klda.types import silent

BASE = "kl"
CHANCE = "chance"
Overlaps = dict[str, dict[str, float | None]]
"""{divergence: {top: overlap with KL's lists}}, and under `CHANCE` that of random orders."""


def divergence_overlaps(
    case: Case, tops: Sequence[int], *, generator: np.random.Generator, settings: Mapping[str, Any] | None = None
) -> dict[str, Overlaps]:
    """The overlaps of a case with the word distributions of `counting` and those of `klda`.

    `settings` are those of `KLDAPolicy` in place of its defaults.
    """
    evidence = Evidence.of(Situation(history=case.history, current=case.current, candidates=case.candidates))
    counted = Counting().estimate(evidence, background_of(evidence.history), generator=generator, progress=silent)
    policy = KLDAPolicy(**(settings or {}))
    predicted, _ = policy.predicted(evidence.history, evidence.current, generator=generator, progress=silent)
    return {
        name: list_overlaps(words, evidence.frequency, evidence.current, tops)
        for name, words in ((Counting.name, counted), (KLDAPolicy.name, predicted))
    }


def list_overlaps(
    distributions: Floats, frequencies: Floats, current: Ints, tops: Sequence[int], **criteria: Any
) -> Overlaps:
    """How much of KL's lists each other divergence shares, from word distributions (Q, V) and frequencies (Q,).

    `criteria` are further ones of Algorithm 2, such as the `threshold`.
    """
    ranked = {
        name: extend(distributions, frequencies, current, top=None, divergence=name, **criteria).ranked
        for name in DIVERGENCES
    }
    base = ranked.pop(BASE)
    found: Overlaps = {
        name: {str(top): mean_overlap(base, lists, top) for top in tops} for name, lists in ranked.items()
    }
    return found | {CHANCE: {str(top): random_overlap(base, top) for top in tops}}


def mean_overlap(first: Sequence[Ints], second: Sequence[Ints], top: int) -> float | None:
    """The share of words that the top of two lists has in common, on average over pairs of lists that are not empty.

    >>> mean_overlap([np.array([4, 2, 7])], [np.array([2, 9, 4])], top=2)
    0.5
    """
    shares = [
        len(np.intersect1d(one[:top], other[:top])) / len(one[:top])
        for one, other in zip(first, second, strict=True)
        if len(one)
    ]
    return float(np.mean(shares)) if shares else None


def random_overlap(lists: Sequence[Ints], top: int) -> float | None:
    """The overlap that random orders of the same candidates would have on average.

    >>> random_overlap([np.arange(8)], top=2)
    0.25
    """
    shares = [min(top, len(one)) / len(one) for one in lists if len(one)]
    return float(np.mean(shares)) if shares else None
