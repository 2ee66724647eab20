"""Draws from many discrete distributions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Urn:
    """Distributions laid end to end as one rising curve, so that any number of draws is one binary search.

    Distribution r occupies the heights r to r + 1 of the curve. A uniform number plus r falls into it.

    >>> urn = Urn.of([([7, 8], [1.0, 3.0]), ([9], [1.0])])
    >>> urn.draw(np.array([0, 1, 1]), np.random.default_rng(0)).tolist()
    [8, 9, 9]
    """

    def __init__(self, rows: NDArray[np.intp], entries: Ints, weights: Floats) -> None:
        """rows: the distribution of each entry, ascending and without gaps from 0."""
        heads = np.flatnonzero(np.diff(rows, prepend=-1))
        totals = np.add.reduceat(weights, heads)
        below = np.concatenate([[0.0], np.cumsum(weights)])
        curve = rows + (below[1:] - below[heads][rows]) / totals[rows]
        # rounding must not leave a gap below the next distribution
        curve[np.append(heads[1:], len(rows)) - 1] = np.arange(1, len(heads) + 1)
        self.entries, self._curve = entries, curve

    @classmethod
    def of(cls, distributions: Sequence[tuple[Sequence[int] | NDArray[Any], Sequence[float] | Floats]]) -> Urn:
        """An urn of (entries, weights) pairs. Weights need not sum to one."""
        lengths = [len(entries) for entries, _ in distributions]
        return cls(
            np.repeat(np.arange(len(lengths)), lengths),
            np.concatenate([np.asarray(entries, dtype=np.int64) for entries, _ in distributions]),
            np.concatenate([np.asarray(weights, dtype=np.float64) for _, weights in distributions]),
        )

    @classmethod
    def of_matrix(cls, matrix: Floats) -> Urn:
        """An urn with one distribution for each row of a matrix. Entries are its columns."""
        rows, columns = np.nonzero(matrix)
        return cls(rows, columns, matrix[rows, columns])

    def draw(self, rows: NDArray[Any], generator: np.random.Generator) -> Ints:
        """One entry from each of the given distributions."""
        # single precision: r + u then stays below r + 1 exactly
        uniform = generator.random(len(rows), dtype=np.float32)
        drawn: Ints = self.entries[np.searchsorted(self._curve, rows + uniform.astype(np.float64), side="right")]
        return drawn


def zipf(n: int, exponent: float = 1.0, shift: float = 1.0) -> Floats:
    """The Zipf–Mandelbrot distribution over n ranks.

    >>> zipf(3).round(2).tolist()
    [0.55, 0.27, 0.18]
    """
    weights = (np.arange(n) + shift) ** -exponent
    return np.asarray(weights / weights.sum(), dtype=np.float64)
