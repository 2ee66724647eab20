"""New ground: words that are expected to be used more than the target and the background account for."""

from __future__ import annotations

import numpy as np

from klda.selection.arrays import Floats

_SURE = 1.645
"""Standard deviations beyond which a rise is not put down to sampling: one in twenty, one-sided."""


def emerging_words(predicted: Floats, known: Floats, tokens: float | None = None) -> Floats:
    """How much each word rises: what `predicted` (V,) has beyond `known` (V,), and 0 where it has not. # (V,)

    `known` is the distribution whose words are not news: last window or the anchored target; `np.maximum` of it and the
    background leaves common words out too. `tokens`, the words that `predicted` was estimated from, takes off what
    sampling alone can explain. The result does not sum to 1: its sum is the share of emerging words.

    >>> emerging_words(np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.3, 0.1]))
    array([0. , 0. , 0.1])
    >>> emerging_words(np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.3, 0.1]), tokens=10)
    array([0., 0., 0.])
    """
    margin = 0.0 if tokens is None else _SURE * np.sqrt(known * (1 - known) / tokens)
    return np.maximum(predicted - known - margin, 0.0)
