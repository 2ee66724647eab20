"""What the next window will measure of each candidate, with intervals that past windows have tested.

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
from klda.advice.interval import Interval
from klda.advice.word_counts import keyword_word_matrix
from klda.advice.word_distribution import from_counts
from klda.arrays import Floats, Ints, row_blocks
from klda.baselines.calibration import calibrated_forecast, running_forecasts
from klda.baselines.divergences import divergence as divergence_named
from klda.baselines.sampling_noise import expected_scores

MEASURED_SMOOTHING = 0.05
"""Tokens that a measurement adds to every word: five topics of plain LDA with η = 0.01."""
MOST_WINDOWS = 8
"""Windows that are looked back on: older news says little about how fast a subject moves now."""


@dataclass(frozen=True)
class Measured:
    """What one window shows of each pair of a current keyword and a candidate; NaN where either has no post."""

    divergence: Floats  # (n, Q)
    distance: Floats  # (n, Q)
    """High-frequency distance R."""


@dataclass(frozen=True)
class Forecast:
    """What the next window will measure of each pair of a current keyword and a candidate; NaN where none is known."""

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

    Sampling noise goes with the root of one over the tokens, and change over time is alike for all: what is between
    the two held best on real posts.
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
