"""The paper's high-frequency distance: frequent words that one keyword brings and another does not.

For a current keyword `last` and a candidate `new`, with threshold o_h and retention rate r,

    E = {w : new_w > o_h, last_w < r · new_w}      the extension set: words gained
    F = {w : last_w > o_h, new_w < r · last_w}      the retention failure set: words lost
    R = |E| − ĉ |F|                                   the high-frequency distance
"""

from __future__ import annotations

import numpy as np

from klda.arrays import Floats, Ints

RETENTION_RATE = 0.5
LOSS_PENALTY = 1.0
SIZE = 100
"""Words that are frequent under a keyword, in the middle."""
DENSE = 0.05
"""Share of frequent words from which on it takes less time to look at all."""


def high_frequency_threshold(distributions: Floats, size: int = SIZE) -> float:
    """The threshold o_h above which the median row of `distributions` (Q, V) has `size` words.

    >>> high_frequency_threshold(np.array([[0.4, 0.3, 0.2, 0.1]]), size=2)
    0.2
    """
    return float(np.median(largest_outside(distributions, size))) if distributions.shape[1] > size else 0.0


def largest_outside(distributions: Floats, size: int = SIZE) -> Floats:
    """The probability that comes after the `size` largest, in each row of `distributions` (Q, V). # (Q,)

    Most words lie far below it. Where enough lie above half of what the row before had, only those are looked at.

    >>> largest_outside(np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]]), size=2)
    array([0.2, 0.2])
    """
    found = np.empty(len(distributions))
    least = 0.0
    for number, row in enumerate(distributions):
        above = row[row > least]
        if len(above) <= size:
            above = row
        found[number] = np.partition(above, len(above) - size - 1)[len(above) - size - 1]
        least = found[number] / 2
    return found


def gained_counts(last: Floats, new: Floats, threshold: float, retention: float = RETENTION_RATE) -> Ints:
    """|E| for each pair of a row of `last` (n, V) and a row of `new` (m, V). # (n, m)

    Only the frequent words of `new`, about a hundred a row, are looked at. Of keywords with hardly a post, where
    smoothing makes all words alike, all may be frequent.

    >>> gained_counts(np.array([[0.9, 0.1]]), np.array([[0.9, 0.1], [0.2, 0.8]]), threshold=0.05)
    array([[0, 1]])
    """
    frequent = new > threshold  # (m, V)
    if len(last) <= len(new) and frequent.mean() > DENSE:
        over = np.where(frequent, retention * new, -1.0)
        return np.array([np.count_nonzero(row < over, axis=1) for row in last], dtype=np.int64)
    rows, words = np.nonzero(frequent)  # (nnz,)
    at_most = retention * new[rows, words]
    if len(last) <= len(new):  # the fewer rows are walked over, the others taken together
        return np.array([np.bincount(rows[row[words] < at_most], minlength=len(new)) for row in last], dtype=np.int64)
    found = np.empty((len(last), len(new)), dtype=np.int64)
    for row in range(len(new)):
        own = slice(*np.searchsorted(rows, [row, row + 1]))
        found[:, row] = (last[:, words[own]] < at_most[own]).sum(axis=1)
    return found


def lost_counts(last: Floats, new: Floats, threshold: float, retention: float = RETENTION_RATE) -> Ints:
    """|F| for each pair of a row of `last` (n, V) and a row of `new` (m, V). # (n, m)

    What one loses is what the way back would gain.
    """
    return gained_counts(new, last, threshold, retention).T


def high_frequency_distance(
    last: Floats,
    new: Floats,
    threshold: float,
    retention: float = RETENTION_RATE,
    penalty: float = LOSS_PENALTY,
) -> Floats:
    """R = |E| − ĉ |F| for each pair of a row of `last` (n, V) and a row of `new` (m, V). # (n, m)

    >>> last, new = np.array([[0.6, 0.3, 0.1]]), np.array([[0.1, 0.3, 0.6], [0.2, 0.4, 0.4]])
    >>> high_frequency_distance(last, new, threshold=0.15)
    array([[0., 0.]])
    >>> high_frequency_distance(last, new, threshold=0.15, penalty=2.0)
    array([[-1., -1.]])
    """
    gained, lost = gained_counts(last, new, threshold, retention), lost_counts(last, new, threshold, retention)
    return np.asarray(gained - penalty * lost, dtype=np.float64)


def gained_words(last: Floats, new: Floats, threshold: float, retention: float = RETENTION_RATE) -> Ints:
    """The extension set E of one pair (V,), (V,): the word most frequent under `new` first.

    >>> gained_words(np.array([0.6, 0.1, 0.3]), np.array([0.1, 0.5, 0.4]), threshold=0.05)
    array([1])
    """
    words = np.flatnonzero((new > threshold) & (last < retention * new))
    return words[np.argsort(-new[words], kind="stable")]


def lost_words(last: Floats, new: Floats, threshold: float, retention: float = RETENTION_RATE) -> Ints:
    """The retention failure set F of one pair (V,), (V,): the word most frequent under `last` first.

    >>> lost_words(np.array([0.6, 0.1, 0.3]), np.array([0.1, 0.5, 0.4]), threshold=0.05)
    array([0])
    """
    return gained_words(new, last, threshold, retention)
