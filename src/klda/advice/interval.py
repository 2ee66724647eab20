"""Arrays of numbers with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import ndtri

from klda.arrays import Floats
from klda.types import Estimate

COVERAGE = 0.9


@dataclass(frozen=True)
class Interval:
    """Means with lower and upper ends, all of one shape.

    >>> import numpy as np
    >>> Interval.normal(np.array([1.0]), np.array([0.5])).at(0)
    Estimate(mean=1.0, low=0.178, high=1.822)
    """

    mean: Floats
    low: Floats
    high: Floats

    @classmethod
    def normal(cls, mean: Floats, deviation: Floats, coverage: float = COVERAGE) -> Interval:
        """The central interval of a normal distribution."""
        reach = ndtri((1 + coverage) / 2) * deviation
        return cls(mean, mean - reach, mean + reach)

    def at(self, *index: int) -> Estimate:
        """One entry as an `Estimate`, rounded for people."""
        return Estimate(*(round(float(a[index]), 3) for a in (self.mean, self.low, self.high)))
