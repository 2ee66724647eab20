"""The frontier between retention and novelty: the best set at each setting of the dial."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.errors import SettingError
from klda.selection.arrays import Floats, Ints
from klda.selection.budget import Limits
from klda.selection.choose import ChosenSet, choose_set
from klda.selection.sets import SetProblem


@dataclass(frozen=True)
class Frontier:
    """The best set found at each setting of the dial; from one setting to the next, novelty − retention never falls."""

    settings: Floats  # (S,) ascending
    sets: tuple[ChosenSet, ...]

    def at(self, novelty: float) -> ChosenSet:
        """The set of the nearest setting, without any work: what a dial in a page shows while it turns."""
        return self.sets[int(np.abs(self.settings - novelty).argmin())]


def trace_frontier(
    problem: SetProblem,
    limits: Limits = Limits(),
    *,
    current: Ints | None = None,
    n_settings: int = 11,
) -> Frontier:
    """The best set at each of `n_settings` settings of the dial from 0 to 1.

    Every set found counts for every setting, so a lucky find at one is not missed at its neighbours.

    >>> from klda.selection.overlap import UnionVolume
    >>> from klda.selection.sets import set_problem
    >>> words = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    >>> problem = set_problem(words, UnionVolume.disjoint(np.array([10.0, 10.0])), target=np.array([0.5, 0.5, 0.0]),
    ...                       emerging=np.array([0.0, 0.0, 0.2]), target_posts=10.0)
    >>> curve = trace_frontier(problem, Limits(max_keywords=1), n_settings=3)
    >>> [(chosen.score.retention, chosen.score.novelty) for chosen in curve.sets], curve.at(0.9).keywords
    ([(1.0, 0.0), (0.2, 1.0), (0.2, 1.0)], array([1]))
    """
    if n_settings < 2:
        raise SettingError(f"a frontier needs at least 2 settings, got {n_settings}")
    settings = np.linspace(0.0, 1.0, n_settings)
    found = [choose_set(problem, limits, novelty=float(setting), current=current) for setting in settings]
    sets = tuple(_best(problem, found, float(setting)) for setting in settings)
    return Frontier(settings, sets)


def _best(problem: SetProblem, found: list[ChosenSet], novelty: float) -> ChosenSet:
    """The set of most value at this setting, with its value there."""
    values = [problem.value(chosen.score, novelty) for chosen in found]
    best = found[int(np.argmax(values))]
    return ChosenSet(best.keywords, max(values), best.score, best.keep, best.add, best.drop)
