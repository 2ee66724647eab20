"""Intervals that hold what they say: predictions of the last window show how far off those of the next will be.

The intervals of `expected_scores` and `expected_kl` know sampling noise alone. Next window also changes its subject and
its volume, words come in bursts, and posts with two keywords make these agree more than independent samples would. How
much all this matters is not derived but measured: the last window, predicted from what came before it, is compared with
what it turned out to be, in units of the predicted half-widths, and the next prediction is moved and widened
by what was found.
"""

from __future__ import annotations

import numpy as np

from klda.errors import DataError
from klda.selection.arrays import Floats
from klda.selection.interval import COVERAGE, Interval

_ENOUGH = 20
"""Comparisons below which the tails of the errors cannot be told."""


def calibrated(predicted: Interval, past: Interval, measured: Floats, coverage: float = COVERAGE) -> Interval:
    """`predicted` moved and widened as `past` should have been to hold `measured`, which has its shape.

    Entries of `past` without a width (a keyword and itself, candidates that were not drawn) are left out of the
    comparison, and those of `predicted` come back as they are.

    >>> past = Interval(np.zeros(100), np.full(100, -1.0), np.full(100, 1.0))
    >>> measured = np.linspace(-2, 6, 100)  # too high by 2, and four times as far apart as predicted
    >>> wide = calibrated(Interval(np.array([5.0]), np.array([4.5]), np.array([5.5])), past, measured)
    >>> wide.at(0)
    Estimate(mean=6.0, low=4.2, high=7.8)
    """
    width = _half_width(past)
    compared = np.isfinite(past.mean) & np.isfinite(measured) & (width > 0)
    if compared.sum() < _ENOUGH:
        raise DataError(
            f"calibration needs at least {_ENOUGH} past predictions to compare, got {compared.sum()}; "
            "give more candidates or an earlier window"
        )
    errors = (measured - past.mean)[compared] / width[compared]
    low, high = np.quantile(errors, [(1 - coverage) / 2, (1 + coverage) / 2])
    centre = float(np.clip(errors.mean(), low, high))
    unit = _half_width(predicted)
    return Interval(predicted.mean + centre * unit, predicted.mean + low * unit, predicted.mean + high * unit)


def _half_width(interval: Interval) -> Floats:
    """Half of each interval's width; 0 where the interval is infinite, as both its ends are the same."""
    finite = np.isfinite(interval.mean)
    width = np.zeros_like(interval.mean)
    return np.subtract(interval.high, interval.low, out=width, where=finite) / 2
