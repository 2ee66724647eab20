"""Intervals for means over cases: a bootstrap that resamples subjects and weeks, not cases.

Cases of one subject share its words and cases of one week share its news, so they are not independent. Both factors are
drawn with replacement, and a case counts as often as its subject and its week were drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from klda.arrays import Floats
from klda.types import Estimate

MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class Grid:
    """Values of several measures on a grid of subjects × weeks; NaN where a case does not count."""

    measures: tuple[str, ...]
    values: Floats  # (measures, subjects, weeks)

    @classmethod
    def of(cls, cases: Sequence[tuple[str, str, Mapping[str, float]]]) -> Grid:
        """The grid of cases given as (subject, week, {measure: value})."""
        subjects = {s: i for i, s in enumerate(dict.fromkeys(case[0] for case in cases))}
        weeks = {w: i for i, w in enumerate(dict.fromkeys(case[1] for case in cases))}
        names = tuple(dict.fromkeys(name for case in cases for name in case[2]))
        values = np.full((len(names), len(subjects), len(weeks)), np.nan)
        for subject, week, measured in cases:
            for i, name in enumerate(names):
                values[i, subjects[subject], weeks[week]] = measured.get(name, np.nan)
        return cls(names, values)

    def together(self, *measures: str) -> Grid:
        """These measures on the cases in which all of them are known: only there can their means be compared."""
        chosen = self.values[[self.measures.index(name) for name in measures]]
        return Grid(measures, np.where(np.isnan(chosen).any(axis=0), np.nan, chosen))

    def means(self) -> Floats:
        """The plain mean of each measure over the cases that count. # (measures,)"""
        weights = np.ones((1, *self.values.shape[1:]))
        means: Floats = _weighted_means(self.values, weights)[0]
        return means

    def resampled_means(self, n_draws: int, generator: np.random.Generator) -> Floats:
        """The mean of each measure in each bootstrap draw. # (draws, measures)"""
        _, n_subjects, n_weeks = self.values.shape
        subjects = generator.multinomial(n_subjects, np.full(n_subjects, 1 / n_subjects), size=n_draws)
        weeks = generator.multinomial(n_weeks, np.full(n_weeks, 1 / n_weeks), size=n_draws)
        weights = subjects[:, :, None] * weeks[:, None, :]  # (draws, subjects, weeks)
        return _weighted_means(self.values, weights.astype(np.float64))


def _weighted_means(values: Floats, weights: Floats) -> Floats:
    known = ~np.isnan(values)
    total: Floats = np.einsum("msw,dsw->dm", np.where(known, values, 0.0), weights)
    mass: Floats = np.einsum("msw,dsw->dm", known.astype(np.float64), weights)
    means: Floats = np.divide(total, mass, out=np.full_like(total, np.nan), where=mass > 0)
    return means


def interval(
    grid: Grid,
    statistic: Callable[[Mapping[str, Floats]], Floats],
    *,
    generator: np.random.Generator,
    n_draws: int = 2000,
    level: float = 0.95,
) -> Estimate:
    """A statistic of the measures' means, with its bootstrap interval.

    `statistic` maps {measure: means in each draw} to one value a draw. Where it is undefined in more than one draw of
    twenty (a ratio whose denominator may be 0) the interval is unknown: the other draws would give too narrow an
    interval. It is unknown for a single case too.

    >>> cases = [(s, w, {"ours": 0.5 + 0.01 * i, "theirs": 0.4}) for i, s in enumerate("abc") for w in "12"]
    >>> gain = interval(Grid.of(cases), lambda m: m["ours"] - m["theirs"], generator=np.random.default_rng(0))
    >>> round(gain.mean, 2), gain.low > 0
    (0.11, True)
    """
    columns = {name: i for i, name in enumerate(grid.measures)}
    plain = grid.means()
    centre = statistic({name: plain[i : i + 1] for name, i in columns.items()})[0]
    draws = grid.resampled_means(n_draws, generator)
    spread = statistic({name: draws[:, i] for name, i in columns.items()})
    defined = np.isfinite(spread)
    spread = spread[defined]
    if grid.values[0].size == 1 or defined.mean() < 1 - MOST_UNDEFINED:
        return Estimate(float(centre), float("nan"), float("nan"))
    tail = (1 - level) / 2
    low, high = np.quantile(spread, [tail, 1 - tail])
    return Estimate(float(centre), float(low), float(high))
