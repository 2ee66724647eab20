"""Scores as next window will measure them: expected divergence and R under its sample size, with intervals.

Next window's word distributions are estimated from few posts, and sampling alone pushes two estimates apart: the fewer
words, the further. A prediction without that noise ranks candidates differently from any truth it can be held
against. So the counts of next window are drawn from the predicted distributions, as many tokens as each keyword is
expected to have, smoothed as the truth will be, and scored; the scores' mean and spread over a few draws come back.
Keywords are drawn independently of each other, although documents that carry both make their words agree a little more.
The intervals are of sampling alone. `klda.baselines.uncertainty` measures how far windows differ beyond it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from threadpoolctl import threadpool_limits

from klda.advice.high_frequency import (
    LOSS_PENALTY,
    RETENTION_RATE,
    high_frequency_distance,
    high_frequency_threshold,
)
from klda.advice.interval import COVERAGE, Interval
from klda.advice.word_distribution import from_counts
from klda.arrays import Bools, Floats, Ints, row_blocks
from klda.baselines.divergences import divergence as divergence_named
from klda.errors import SettingError

THREADS = 4
"""Most windows that are drawn at a time, one a core: NumPy draws outside Python's lock."""
MOST_HELD = 1 << 23
"""Largest array for which windows are drawn in parallel; larger windows are drawn one by one, to save memory."""


@dataclass(frozen=True)
class ExpectedScores:
    """The expected measurements of next window for each pair of a current keyword and a candidate; all (n, Q).

    Candidates that were not needed have infinite divergence and a distance of minus infinity.
    """

    divergence: Interval
    distance: Interval
    """High-frequency distance R."""


def expected_scores(
    distributions: Floats,
    tokens: Floats,
    current: Ints,
    *,
    prior: Floats,
    strength: float,
    threshold: float,
    generator: np.random.Generator,
    draws: int = 30,
    divergence: str = "kl",
    retention: float = RETENTION_RATE,
    penalty: float = LOSS_PENALTY,
    needed: Bools | None = None,
    coverage: float = COVERAGE,
) -> ExpectedScores:
    """Expected divergence and R of candidates from current keywords, under next window's sample size.

    `distributions` (Q, V) are predicted; `tokens` (Q,) are the words expected in each keyword's posts; `prior` (V,) and
    `strength` smooth the drawn counts as the truth is smoothed; `threshold` is o_h. Only candidates `needed` (Q,)
    are drawn: those too rare to be chosen are not worth the time.

    >>> words = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])
    >>> scores = expected_scores(words, np.array([900.0, 900.0, 9.0]), np.array([0]), prior=np.full(3, 1 / 3),
    ...                          strength=1.0, threshold=0.15, generator=np.random.default_rng(0))
    >>> common, rare = scores.divergence.mean[0, 1:]
    >>> bool(common < rare)  # the same predicted words, but the rare keyword will be measured as further away
    True
    """
    if draws < 2:
        raise SettingError(f"draws must be at least 2 to give an interval, got {draws}")
    rows = np.arange(len(distributions)) if needed is None else np.flatnonzero(needed)
    drawn = draw_scores(
        distributions,
        repeat(tokens, draws),
        current,
        rows,
        prior=prior,
        strength=strength,
        threshold=threshold,
        generator=generator,
        divergence=divergence,
        retention=retention,
        penalty=penalty,
    )
    divergences, distances = (np.array(each) for each in zip(*drawn, strict=True))  # (draws, n, rows)

    def spread(values: Floats, absent: float) -> Interval:
        mean = np.full((len(current), len(distributions)), absent)
        deviation = np.zeros_like(mean)
        mean[:, rows], deviation[:, rows] = values.mean(axis=0), values.std(axis=0, ddof=1)
        return Interval.normal(mean, deviation, coverage)

    return ExpectedScores(spread(divergences, np.inf), spread(distances, -np.inf))


def draw_scores(
    distributions: Floats,
    volumes: Iterable[Floats],
    current: Ints,
    rows: Ints,
    *,
    prior: Floats,
    strength: float,
    threshold: float | None,
    generator: np.random.Generator,
    divergence: str = "kl",
    retention: float = RETENTION_RATE,
    penalty: float = LOSS_PENALTY,
) -> Iterator[tuple[Floats, Floats]]:
    """Divergence and R of candidates `rows` (m,) from current keywords in one drawn window after the other. # (n, m)

    `volumes` are the words (Q,) that each keyword has in one window after the other. Without a `threshold` each window
    has its own, and all of its candidates are held in memory. All else is as for `expected_scores`.
    """
    measure = divergence_named(divergence)
    blocks = list(row_blocks(len(rows), distributions.shape[1])) if threshold is not None else [slice(None)]
    same_keyword = rows[:, None] == current[None, :]  # (m, n)

    def drawn(keywords: Ints, tokens: Floats, chance: np.random.Generator) -> Floats:
        words = _normalised(distributions[keywords].astype(np.float64))  # (b, V)
        for row, size in zip(words, np.rint(tokens[keywords]).astype(np.int64).tolist(), strict=True):
            row[:] = draw_words(size, row, chance)
        return from_counts(words, prior, strength, out=words)

    def scored(tokens: Floats, chance: np.random.Generator) -> tuple[Floats, Floats]:
        divergences, distances = np.empty((len(current), len(rows))), np.empty((len(current), len(rows)))
        last = drawn(current, tokens, chance)  # (n, V)
        for block in blocks:
            new = drawn(rows[block], tokens, chance)
            at, which = np.nonzero(same_keyword[block])
            new[at] = last[which]  # one keyword has one sample
            frequent = high_frequency_threshold(new) if threshold is None else threshold
            divergences[:, block] = measure(last, new)
            distances[:, block] = high_frequency_distance(last, new, frequent, retention, penalty)
        return divergences, distances

    windows = list(volumes)
    held = len(rows[blocks[0]]) * distributions.shape[1] if len(rows) else 0
    n_threads = min(THREADS, os.cpu_count() or 1) if held <= MOST_HELD else 1
    # Products of matrices on several threads of their own would wait for the cores that draw. And each window has its
    # own generator, so that the draws do not depend on how many are made at a time.
    with ThreadPoolExecutor(n_threads) as pool, threadpool_limits(1, user_api="blas"):
        yield from pool.map(scored, windows, generator.spawn(len(windows)))


def draw_words(size: int, chance: Floats, generator: np.random.Generator) -> Ints:
    """How often each word is said when `size` words are drawn by their chances (V,), which sum to 1. # (V,)

    >>> draw_words(10, np.array([0.0, 1.0]), np.random.default_rng(0))
    array([ 0, 10])
    """
    if size >= len(chance):  # a draw for each word
        return generator.multinomial(size, chance)
    ends = np.cumsum(chance)
    return np.bincount(np.searchsorted(ends, np.sort(generator.random(size)) * ends[-1]), minlength=len(chance))


def _normalised(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
