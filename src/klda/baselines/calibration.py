"""Intervals that hold what they say: how wrong past forecasts were shows how wrong the next will be.

Sampling noise is the least part of what changes from window to window: subjects move, volumes jump, words come in
bursts. How much all this matters is not derived but measured. Every past window is forecast from those before it, by
the rule that forecasts the next one; the errors, in units of what is expected of each series, are pooled, and their
quantile is the reach of the next interval (conformal prediction). It takes two windows to have an error at all.
"""

from __future__ import annotations

import numpy as np

from klda.advice.interval import COVERAGE, Interval
from klda.arrays import Floats
from klda.errors import DataError

HALF_LIFE = 1.5
"""Windows after which a measurement counts half: as in the forecast of posts."""


def running_forecasts(series: Floats, half_life: float = HALF_LIFE) -> Floats:
    """The forecast of each window from those before it, the last one of the window to come. # (T + 1, …)

    `series` (T, …) is NaN where nothing was measured; the forecast is the mean of what was, each window weighing half
    as much as one `half_life` windows later, and NaN where nothing was measured before.

    >>> running_forecasts(np.array([4.0, 8.0, np.nan]), half_life=1.0).round(2)
    array([ nan, 4.  , 6.67, 6.67])
    """
    kept = 0.5 ** (1 / half_life)
    total, weight = np.zeros(series.shape[1:]), np.zeros(series.shape[1:])
    forecasts = np.full((len(series) + 1, *series.shape[1:]), np.nan)
    for window, values in enumerate(series):
        known = np.isfinite(values)
        total = kept * total + np.where(known, values, 0.0)
        weight = kept * weight + known
        forecasts[window + 1] = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
    return forecasts


def calibrated_forecast(
    series: Floats, noise: Floats | None = None, *, half_life: float = HALF_LIFE, coverage: float = COVERAGE
) -> Interval:
    """The forecast of the next window, with an interval as wide as past forecasts were wrong. # each (…)

    `series` (T, …) is what past windows measured, NaN where they did not; errors are pooled over all windows and
    series. `noise` (T + 1, …) says what relative size of error is expected where, the last row for the next window;
    without it all series are alike.

    >>> generator = np.random.default_rng(0)
    >>> interval = calibrated_forecast(generator.normal(10.0, 2.0, size=(8, 100)))
    >>> inside = np.abs(generator.normal(10.0, 2.0, size=100) - interval.mean) < interval.high - interval.mean
    >>> bool(inside.mean() > 0.8)
    True
    """
    forecasts = running_forecasts(series, half_life)
    scale = np.ones_like(forecasts) if noise is None else noise
    errors = np.abs(series - forecasts[:-1]) / scale[:-1]
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        raise DataError("no past window can be forecast from the ones before it; give at least two windows")
    level = min(1.0, coverage * (len(errors) + 1) / len(errors))  # as the next error is one more of its kind
    reach = np.quantile(errors, level) * scale[-1]
    return Interval(forecasts[-1], forecasts[-1] - reach, forecasts[-1] + reach)
