"""Forecasts of the measurements of the next window for each candidate, with intervals tested on past windows.

A reason names two numbers: how far a candidate's words are from those of the keyword it extends (divergence), and how
many frequent words it gains less those it loses (R). Both are forecasts of what the next window's posts will show,
whatever scores a policy ranks by, so that they compare between policies and can be held against what happened. They
speak of posts collected as so far: where a filter let only the current list in, so does the measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from klda.advice.evidence import Evidence
from klda.advice.high_frequency import SIZE, high_frequency_distance, largest_outside
from klda.advice.interval import COVERAGE, Interval
from klda.advice.word_counts import keyword_word_matrix
from klda.advice.word_distribution import from_counts
from klda.arrays import Floats, Ints, row_blocks
from klda.baselines.divergences import divergence as divergence_named
from klda.baselines.sampling_noise import expected_scores
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

    `series` (T, …) are the measurements of past windows, NaN where there is none; errors are pooled over all of them.
    `noise` (T + 1, …) is the expected relative size of errors, its last row that of the next window;
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


MEASURED_SMOOTHING = 0.05
"""Tokens added to every word by smoothing: five topics of plain LDA with η = 0.01."""
MOST_WINDOWS = 8
"""Past windows that are used: older ones say little about how fast a subject changes now."""


@dataclass(frozen=True)
class Measured:
    """The measurements of one window for each pair of a current keyword and a candidate; NaN if either has no post."""

    divergence: Floats  # (n, Q)
    distance: Floats  # (n, Q)
    """High-frequency distance R."""


@dataclass(frozen=True)
class Forecast:
    """The forecast for each pair of a current keyword and a candidate; NaN where there is none."""

    divergence: Interval  # (n, Q)
    distance: Interval  # (n, Q)
    threshold: float
    """o_h, the probability from which on a word is frequent: such that the last window has about 100 of them."""
    tested: bool
    """Whether the intervals are as wide as past forecasts were wrong; else they hold sampling noise only."""


def forecast_measurement(evidence: Evidence, *, divergence: str = "kl", generator: np.random.Generator) -> Forecast:
    """The divergence and R that the next window will measure, from what the last windows did."""
    windows = range(max(0, evidence.history.n_windows - MOST_WINDOWS), evidence.history.n_windows)
    counts = [keyword_word_matrix(evidence.history.window(window)) for window in windows]  # (Q, V) each
    threshold = _threshold(counts[-1])
    past = [measure(window, evidence.current, threshold, divergence) for window in counts]
    divergences = np.array([window.divergence for window in past])  # (T, n, Q)
    if not (np.isfinite(divergences).sum(axis=0) > 1).any():
        return _sampling_noise(counts[-1], evidence.current, threshold, divergence, generator)
    noise = _noise(np.array([window.sum(axis=1) for window in counts]), evidence.current)
    small = calibrated_forecast(np.log1p(divergences), noise)  # errors of a divergence grow with it
    away = Interval(*(np.expm1(np.maximum(end, 0.0)) for end in (small.mean, small.low, small.high)))
    distance = calibrated_forecast(np.array([window.distance for window in past]), noise)
    return Forecast(away, distance, threshold, tested=True)


def measure(counts: csr_array, current: Ints, threshold: float, divergence: str = "kl") -> Measured:
    """What a window with these counts of words (Q, V) measures; `current` (n,) are columns, `threshold` is o_h."""
    absent = np.asarray(counts.sum(axis=1)) == 0  # (Q,)
    last = measured_words(counts[current].toarray())  # (n, V)
    away, distance = (np.full((len(current), counts.shape[0]), np.nan) for _ in range(2))
    present = np.flatnonzero(~absent)  # of thousands of candidates, a window has some
    for rows in row_blocks(len(present), counts.shape[1]):
        some = present[rows]
        words = measured_words(counts[some].toarray())
        away[:, some] = divergence_named(divergence)(last, words)
        distance[:, some] = high_frequency_distance(last, words, threshold)
    unknown = absent[current][:, None] | absent[None, :]  # (n, Q)
    unknown[np.arange(len(current)), current] = True  # 0 from itself, always: nothing to forecast
    return Measured(
        np.where(unknown, np.nan, away),
        np.where(unknown, np.nan, distance),
    )


def measured_words(counts: Floats) -> Floats:
    """Counts of words as a measurement smooths them. # (Q, V)"""
    return from_counts(counts, *measured_smoothing(counts.shape[1]))


def measured_smoothing(n_words: int) -> tuple[Floats, float]:
    """The prior of a measurement, and its strength in tokens. # (V,)"""
    return np.full(n_words, 1 / n_words), MEASURED_SMOOTHING * n_words


def _threshold(counts: csr_array) -> float:
    """o_h of the candidates that a window has."""
    seen = counts[np.flatnonzero(counts.sum(axis=1) > 0)]
    if seen.shape[1] <= SIZE:
        return 0.0
    edges = [largest_outside(measured_words(seen[rows].toarray()), SIZE) for rows in row_blocks(*seen.shape)]
    return float(np.median(np.concatenate(edges)))


def _noise(tokens: Floats, current: Ints) -> Floats:
    """How wrong forecasts of each pair tend to be, in proportion, from past tokens (T, Q). # (T + 1, n, Q)

    Sampling noise falls with the square root of the tokens; change over time does not depend on them. An exponent
    between the two fitted real posts best.
    """
    expected = running_forecasts(np.where(tokens > 0, tokens, np.nan))  # (T + 1, Q)
    rare = 1 / expected
    return np.asarray((rare[:, current, None] + rare[:, None, :]) ** 0.25)


def _sampling_noise(
    counts: csr_array, current: Ints, threshold: float, divergence: str, generator: np.random.Generator
) -> Forecast:
    """What another window like this one (Q, V) would measure."""
    prior, strength = measured_smoothing(counts.shape[1])
    scores = expected_scores(
        measured_words(counts.toarray()),
        counts.sum(axis=1),
        current,
        prior=prior,
        strength=strength,
        threshold=threshold,
        generator=generator,
        divergence=divergence,
    )
    known = np.isfinite(measure(counts, current, threshold, divergence).divergence)

    def where_known(interval: Interval) -> Interval:
        return Interval(*(np.where(known, end, np.nan) for end in (interval.mean, interval.low, interval.high)))

    return Forecast(where_known(scores.divergence), where_known(scores.distance), threshold, tested=False)
