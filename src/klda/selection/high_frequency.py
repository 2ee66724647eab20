"""The paper's high-frequency distance: frequent words that one keyword brings and another does not.

For a current keyword `last` and a candidate `new`, with threshold o_h and retention rate r,

    E = {w : new_w > o_h, last_w < r · new_w}      the extension set: words gained
    F = {w : last_w > o_h, new_w < r · last_w}      the retention failure set: words lost
    R = |E| − ĉ |F|                                   the high-frequency distance
"""

from __future__ import annotations

import numpy as np

from klda.selection.arrays import Floats, Ints, row_blocks

RETENTION_RATE = 0.5
LOSS_PENALTY = 1.0


def high_frequency_threshold(distributions: Floats, size: int = 100) -> float:
    """The threshold o_h above which the median row of `distributions` (Q, V) has `size` words.

    >>> high_frequency_threshold(np.array([[0.4, 0.3, 0.2, 0.1]]), size=2)
    0.2
    """
    n_words = distributions.shape[1]
    if n_words <= size:
        return 0.0
    largest_outside = np.empty(len(distributions))  # (Q,)
    for rows in row_blocks(*distributions.shape):
        largest_outside[rows] = np.partition(distributions[rows], n_words - size - 1, axis=1)[:, n_words - size - 1]
    return float(np.median(largest_outside))


def gained_counts(last: Floats, new: Floats, threshold: float, retention: float = RETENTION_RATE) -> Ints:
    """|E| for each pair of a row of `last` (n, V) and a row of `new` (m, V). # (n, m)

    Only the frequent words of `new`, about a hundred a row, are looked at.

    >>> gained_counts(np.array([[0.9, 0.1]]), np.array([[0.9, 0.1], [0.2, 0.8]]), threshold=0.05)
    array([[0, 1]])
    """
    rows, words = np.nonzero(new > threshold)  # (nnz,)
    at_most = retention * new[rows, words]
    return np.array([np.bincount(rows[row[words] < at_most], minlength=len(new)) for row in last], dtype=np.int64)


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
