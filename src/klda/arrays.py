"""Names for types of arrays, and slices over rows that keep memory bounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BLOCK_ELEMENTS = 1 << 19
"""Numbers that a temporary may hold: 4 MB, small enough to stay near the processor, large enough for one call each."""


def row_blocks(n_rows: int, width: int, elements: int = BLOCK_ELEMENTS) -> Iterator[slice]:
    """Slices that cover `n_rows`, each of at most `elements` numbers when a row is `width` long.

    >>> list(row_blocks(5, 10, elements=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, elements // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
