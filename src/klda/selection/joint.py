"""Extending a list as a whole: the candidates most likely to be among the best for any of its keywords.

Which candidates next window will find right for a keyword hangs on what nobody knows yet: how many posts each keyword
will have. With a few more or fewer words a current keyword has many frequent ones or hardly any, and half of the
candidates qualify or all. Expected scores average over that, and the best candidate of an average window need not be
among the best of any. So windows are drawn, volumes included, Algorithm 2 is run on each, and a candidate's chance is
the share of windows in which it is among the best.

Every window is read in two ways, which count alike. Measured on all of its posts, candidates with many look near for
that alone; measured on as many posts of each as the rarest has, little is left to tell the others apart. What is among
the best by both is near by what it says.

One list is asked for, not one for each keyword. So the candidates with the best chance for *any* current keyword are
taken, as many as a keyword would get, and each keyword's list holds those of them that extend it: fewer words, and
surer ones, than the best of every keyword by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from klda.selection.algorithm2 import FREQUENCY_THRESHOLD, Extensions, rank_extensions
from klda.selection.arrays import Bools, Floats, Ints
from klda.selection.high_frequency import high_frequency_threshold
from klda.selection.sampling_noise import draw_scores

BEST = 2
"""Candidates of a keyword that count as its best, as in the paper's shorter lists."""
VOLUME_SPREAD = 0.4
"""Standard deviation of the logarithm of a keyword's words from one window to the next (0.39 on congress_2020)."""
DRAWS = 80
"""Windows that are drawn for each of the two readings."""
MANY, SCREENING, NEAREST = 100, 5, 10
"""Where more candidates than these qualify, a few windows are drawn first, and only those near in one are looked at."""
LEAST_CHANCE = 0.02
"""A candidate extends a keyword when it is among its best in so many of the drawn windows."""

Scores = list[tuple[Floats, Floats]]
"""Divergence and R (n, m) in one drawn window after the other."""


def extend_jointly(
    distributions: Floats,
    frequencies: Floats,
    current: Ints,
    tokens: Floats,
    *,
    prior: Floats,
    strength: float,
    generator: np.random.Generator,
    top: int,
    draws: int = DRAWS,
    divergence: str = "kl",
    volume_spread: float = VOLUME_SPREAD,
    equal_posts: bool = True,
    min_frequency: float = FREQUENCY_THRESHOLD,
) -> Extensions:
    """The `top` candidates most likely to extend the list, and for each current keyword those that extend it.

    From word distributions (Q, V), frequencies (Q,) and expected words (Q,) of all candidates; `current` (n,) are
    columns. Divergence and R come back as their means over the drawn windows, measured on all of their posts; without
    `equal_posts` that is the only reading.

    >>> words = np.array([[0.7, 0.2, 0.1], [0.65, 0.25, 0.1], [0.1, 0.1, 0.8]])
    >>> found = extend_jointly(words, np.full(3, 0.3), np.array([0]), np.full(3, 900.0), prior=np.full(3, 1 / 3),
    ...                        strength=0.1, generator=np.random.default_rng(0), top=1)
    >>> found.ranked, found.chance.round(1)
    ((array([1]),), array([0. , 1. , 0.5]))
    """
    n, n_candidates = len(current), len(distributions)
    allowed = frequencies > min_frequency  # (Q,)
    growths = [np.exp(volume_spread * generator.standard_normal(n_candidates)) for _ in range(draws)]  # (Q,) each
    volumes = [tokens * growth for growth in growths]
    alike = [equal_volumes(tokens * growth, frequencies * growth, allowed) for growth in growths]
    frequent = high_frequency_threshold(distributions)

    def read(rows: Ints, windows: slice, best: int) -> tuple[Scores, Floats, Floats]:
        """Scores on all posts, and the chances of candidates `rows` (m,) over both readings. # …, (n, m), (m,)"""
        draw = partial(
            draw_scores,
            distributions,
            current=current,
            rows=rows,
            prior=prior,
            strength=strength,
            generator=generator,
            divergence=divergence,
        )
        whole = list(draw(volumes[windows], threshold=frequent))
        readings = [whole, list(draw(alike[windows], threshold=None))] if equal_posts else [whole]
        here = np.searchsorted(rows, current)
        found = [chances(one, frequencies[rows], here, best=best, min_frequency=min_frequency) for one in readings]
        extends, joins = (np.mean(each, axis=0) for each in zip(*found, strict=True))
        return whole, extends, joins

    rows = np.union1d(np.flatnonzero(allowed), current)
    if len(rows) > MANY:
        near = read(rows, slice(SCREENING), NEAREST)[2] > 0
        rows = np.union1d(rows[near], current)
    whole, some_extends, some_joins = read(rows, slice(None), BEST)
    extends, joins = np.zeros((n, n_candidates)), np.zeros(n_candidates)
    extends[:, rows], joins[rows] = some_extends, some_joins
    away, distance = np.full((n, n_candidates), np.inf), np.full((n, n_candidates), -np.inf)
    away[:, rows], distance[:, rows] = np.mean(whole, axis=0)
    surest = np.lexsort((away.min(axis=0), -joins))[:top]
    ranked = tuple(surest[extends[row, surest] >= LEAST_CHANCE] for row in range(n))
    found = np.array(list(dict.fromkeys(int(c) for row in ranked for c in row)), dtype=np.int64)
    return Extensions(current, ranked, found if len(found) else current, not len(found), away, distance, joins)


def equal_volumes(tokens: Floats, posts: Floats, allowed: Bools) -> Floats:
    """The words of each keyword in as many posts as the rarest of those `allowed` has; of a rarer one, all. # (Q,)

    >>> equal_volumes(np.array([60.0, 90.0, 4.0]), np.array([5.0, 9.0, 1.0]), np.array([True, True, False]))
    array([60., 50.,  4.])
    """
    fewest = posts[allowed].min(initial=np.inf)
    return np.asarray(tokens * np.minimum(posts, fewest) / np.where(posts > 0, posts, 1.0))


def chances(
    drawn: Iterable[tuple[Floats, Floats]],
    frequencies: Floats,
    current: Ints,
    *,
    best: int = BEST,
    min_frequency: float = FREQUENCY_THRESHOLD,
) -> tuple[Floats, Floats]:
    """How likely each candidate is among the `best` for each current keyword, and for any. # (n, Q), (Q,)

    `drawn` are divergence and R (n, Q) in one window after the other.

    >>> windows = [(np.array([[0.0, 0.1, 0.3]]), np.zeros((1, 3))), (np.array([[0.0, 0.2, 0.1]]), np.zeros((1, 3)))]
    >>> chances(windows, np.ones(3), np.array([0]), best=1)
    (array([[0. , 0.5, 0.5]]), array([0. , 0.5, 0.5]))
    """
    extends, joins = np.zeros((len(current), len(frequencies))), np.zeros(len(frequencies))
    windows = 0
    for divergence, distance in drawn:
        found = rank_extensions(divergence, distance, frequencies, current, top=best, min_frequency=min_frequency)
        for row, columns in enumerate(found.ranked):
            extends[row, columns] += 1
        if not found.fell_back:
            joins[found.chosen] += 1
        windows += 1
    return extends / max(windows, 1), joins / max(windows, 1)
