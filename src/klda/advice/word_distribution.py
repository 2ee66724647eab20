"""The word distribution a(U) of a keyword set: from a model's topics, from counts, or from the keywords of a set."""

from __future__ import annotations

import numpy as np

from klda.arrays import Floats, row_blocks
from klda.errors import DataError


def from_topics(topic_word: Floats, weights: Floats | None = None) -> Floats:
    """The mean of topic-word rows, uniform as in the paper or weighted by how much each topic occurs.

    `topic_word` (…, K, V), `weights` (…, K); comes back as (…, V).

    >>> from_topics(np.array([[0.8, 0.2], [0.4, 0.6]])).round(2)
    array([0.6, 0.4])
    >>> from_topics(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([3.0, 1.0])).round(2)
    array([0.7, 0.3])
    """
    if weights is None:
        return np.asarray(topic_word.mean(axis=-2))
    share = weights / weights.sum(axis=-1, keepdims=True)  # (…, K)
    return np.asarray(np.einsum("...k,...kv->...v", share, topic_word))


def from_counts(counts: Floats, prior: Floats, strength: float, *, out: Floats | None = None) -> Floats:
    """Counts smoothed by `strength` tokens of a prior distribution: (c + μ b) / (n + μ), row by row.

    `counts` (…, V), `prior` (V,) or one for each row. This one definition serves estimates, their truth, and draws of
    next window. `out` takes the result, and may be `counts` or `prior` itself when they are not needed any more.

    >>> from_counts(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([0.5, 0.5]), strength=4.0)
    array([[0.625, 0.375],
           [0.5  , 0.5  ]])
    """
    total = counts.sum(axis=-1, keepdims=True)
    if strength <= 0 and (total == 0).any():
        raise DataError("a keyword has no words to count and no smoothing; give a strength above 0")
    if counts.ndim != 2:
        return np.asarray((counts + strength * prior) / (total + strength))
    result = np.empty(counts.shape) if out is None else out
    for rows in row_blocks(*counts.shape):  # of thousands of keywords, no second array of their size is made
        smoothing = strength * (prior if prior.ndim == 1 else prior[rows])
        np.divide(counts[rows] + smoothing, total[rows] + strength, out=result[rows])
    return result


def mixture(distributions: Floats, volumes: Floats) -> Floats:
    """a(U) of a set from its keywords: their distributions (n, V), weighted by the posts (n,) that each brings. # (V,)

    >>> mixture(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([30.0, 10.0]))
    array([0.75, 0.25])
    """
    total = volumes.sum()
    if not total > 0:
        raise DataError("no posts are expected from any of these keywords; their mixture is undefined")
    return np.asarray(volumes @ distributions / total)
