"""What scores say about each candidate, in numbers and in words."""

from __future__ import annotations

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.high_frequency import gained_words, high_frequency_threshold, lost_words
from klda.advice.interval import Interval
from klda.advice.reasons import in_words
from klda.arrays import Bools, Floats, Ints
from klda.baselines.algorithm2 import Extensions
from klda.baselines.uncertainty import forecast_measurement
from klda.types import Estimate

MOST_WORDS = 6
"""Words gained or lost that a reason names."""


def explain(
    evidence: Evidence,
    words: Floats,
    extensions: Extensions,
    distances: Floats | None = None,
    *,
    divergence: str = "kl",
    generator: np.random.Generator,
) -> dict[int, Finding]:
    """The finding on every candidate, measured against the current keyword nearest to it."""
    threshold = high_frequency_threshold(words)
    expected = forecast_measurement(evidence, divergence=divergence, generator=generator)
    findings = {}
    seen = np.isin(extensions.current, evidence.history.observed.values)  # (n,)
    for column in range(len(evidence.candidates)):
        row = _nearest(extensions, column, seen)
        if row is None:
            continue
        extended = int(extensions.current[row])
        gained = _shown(evidence, gained_words(words[extended], words[column], threshold), column)
        lost = _shown(evidence, lost_words(words[extended], words[column], threshold), extended)
        findings[column] = Finding(
            text=in_words("extends", {"nearest": evidence.candidates[extended].text}),
            code="extends",
            divergence=_estimate(expected.divergence, row, column),
            high_frequency_distance=_estimate(expected.distance, row, column),
            gained=gained,
            lost=lost,
            distance_from_subject=None if distances is None else round(float(distances[column]), 3),
            extends=evidence.candidates[extended].text,
            tested=expected.tested,
        )
    return findings


def _nearest(extensions: Extensions, column: int, seen: Bools) -> int | None:
    """The current keyword, of those seen (n,), to which a candidate is nearest; if possible one that it extends."""
    away = np.where(seen & (extensions.current != column), extensions.divergence[:, column], np.inf)  # (n,)
    fits = np.array([column in row for row in extensions.ranked])
    away = np.where(fits, away, np.inf) if np.isfinite(away[fits]).any() else away
    return int(away.argmin()) if np.isfinite(away).any() else None


def _shown(evidence: Evidence, found: Ints, own: int) -> tuple[str, ...]:
    """The first few words as people write them, without the keyword's own and the placeholder for rare ones."""
    vocabulary, its_own = evidence.history.vocabulary, {0, *evidence.history.keyword_words[own].tolist()}
    return tuple(vocabulary.display(int(word)) for word in found if int(word) not in its_own)[:MOST_WORDS]


def _estimate(forecast: Interval, row: int, column: int) -> Estimate | None:
    return forecast.at(row, column) if np.isfinite(forecast.mean[row, column]) else None
