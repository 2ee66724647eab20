"""The paper's Algorithm 2: extend each current keyword with the candidates whose documents are most like its own.

For each current keyword W_last, of the candidates W_next ≠ W_last with R(W_last, W_next) ≥ 0 and freq(W_next) > f_2,
take those with the least divergence of a({W_next}) from a({W_last}). The union over current keywords, without
duplicates, is the next list; when nothing qualifies, the current list stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.high_frequency import (
    LOSS_PENALTY,
    RETENTION_RATE,
    high_frequency_distance,
    high_frequency_threshold,
)
from klda.arrays import Bools, Floats, Ints
from klda.baselines.divergences import divergence as divergence_named
from klda.baselines.sampling_noise import ExpectedScores, expected_scores

FREQUENCY_THRESHOLD = 0.005
"""The paper's f_2."""


@dataclass(frozen=True)
class Extensions:
    """What Algorithm 2 found; every number is a column of the candidates."""

    current: Ints  # (n,)
    ranked: tuple[Ints, ...]
    """For each current keyword the candidates chosen to extend it, best first; empty when none qualifies."""
    chosen: Ints
    """The next list, in the order found, each once; the current list when nothing qualifies."""
    fell_back: bool
    """Whether nothing qualified."""
    divergence: Floats  # (n, Q)
    distance: Floats  # (n, Q)  high-frequency distance R
    chance: Floats | None = None  # (Q,)
    """How likely each candidate is among the best for a current keyword, if windows were drawn to estimate that."""


def extend(
    distributions: Floats,
    frequencies: Floats,
    current: Ints,
    *,
    top: int | None = 1,
    divergence: str = "kl",
    threshold: float | None = None,
    retention: float = RETENTION_RATE,
    penalty: float = LOSS_PENALTY,
    min_frequency: float = FREQUENCY_THRESHOLD,
    allowed: Bools | None = None,
) -> Extensions:
    """Extensions of each current keyword, from word distributions (Q, V) and frequencies (Q,).

    `current` (n,) are columns of the candidates; `top` is how many extensions each gets (None: all that qualify);
    `threshold` is o_h, by default such that frequent sets have about 100 words; `allowed` (Q,) leaves candidates out.

    >>> words = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    >>> found = extend(words, np.array([0.3, 0.2, 0.5]), np.array([0]), threshold=0.01)
    >>> found.ranked, found.chosen, found.fell_back
    ((array([1]),), array([1]), False)
    """
    if threshold is None:
        threshold = high_frequency_threshold(distributions)
    last = distributions[current]  # (n, V)
    return rank_extensions(
        divergence_named(divergence)(last, distributions),
        high_frequency_distance(last, distributions, threshold, retention, penalty),
        frequencies,
        current,
        top=top,
        min_frequency=min_frequency,
        allowed=allowed,
    )


def rank_extensions(
    divergence: Floats,
    distance: Floats,
    frequencies: Floats,
    current: Ints,
    *,
    top: int | None = 1,
    min_frequency: float = FREQUENCY_THRESHOLD,
    allowed: Bools | None = None,
) -> Extensions:
    """Extensions from scores that are known already: divergence and R (n, Q), point values or expected ones.

    >>> scores, distance = np.array([[0.0, 0.4, 0.2]]), np.array([[0.0, 3.0, -1.0]])
    >>> rank_extensions(scores, distance, np.array([0.5, 0.5, 0.5]), np.array([0]), top=2).ranked
    (array([1]),)
    """
    qualifies = (distance >= 0) & (frequencies > min_frequency)[None, :]  # (n, Q)
    if allowed is not None:
        qualifies &= allowed[None, :]
    qualifies[np.arange(len(current)), current] = False  # a keyword does not extend itself, though KL = R = 0
    ranked = []
    for row, fits in zip(divergence, qualifies, strict=True):
        candidates = np.flatnonzero(fits)
        ranked.append(candidates[np.argsort(row[candidates], kind="stable")][:top])
    found = list(dict.fromkeys(int(j) for keywords in ranked for j in keywords))
    chosen = np.array(found, dtype=np.int64) if found else np.asarray(current, dtype=np.int64)
    return Extensions(current, tuple(ranked), chosen, not found, divergence, distance)


def extend_scored(
    distributions: Floats,
    frequencies: Floats,
    current: Ints,
    tokens: Floats,
    *,
    prior: Floats,
    strength: float,
    generator: np.random.Generator,
    draws: int = 30,
    top: int | None = 1,
    divergence: str = "kl",
    threshold: float | None = None,
    retention: float = RETENTION_RATE,
    penalty: float = LOSS_PENALTY,
    min_frequency: float = FREQUENCY_THRESHOLD,
    allowed: Bools | None = None,
) -> tuple[Extensions, ExpectedScores]:
    """Extensions by the scores that next window is expected to measure, and those scores with their intervals.

    As `extend`, with the expected divergence and the expected R in place of their point values; `tokens`, `prior`,
    `strength` and `draws` are those of `expected_scores`. Candidates that are too rare or not `allowed` are not drawn.
    """
    if threshold is None:
        threshold = high_frequency_threshold(distributions)
    needed = frequencies > min_frequency
    if allowed is not None:
        needed &= allowed
    scores = expected_scores(
        distributions,
        tokens,
        current,
        prior=prior,
        strength=strength,
        threshold=threshold,
        generator=generator,
        draws=draws,
        divergence=divergence,
        retention=retention,
        penalty=penalty,
        needed=needed,
    )
    found = rank_extensions(
        scores.divergence.mean,
        scores.distance.mean,
        frequencies,
        current,
        top=top,
        min_frequency=min_frequency,
        allowed=allowed,
    )
    return found, scores
