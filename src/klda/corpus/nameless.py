"""Arrays in files that have no name: larger than memory, and gone however the process ends."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def nameless(size: int, dtype: DTypeLike, folder: Path | None = None) -> NDArray[Any]:
    """An array of zeros in a file in `folder`; in the system's folder for such files where that cannot be written to.

    >>> array = nameless(3, np.int32)
    >>> array[1:] = 7
    >>> array.tolist()
    [0, 7, 7]
    """
    if not size:
        return np.zeros(0, dtype=dtype)
    writable = folder is not None and os.access(folder, os.W_OK)
    with tempfile.TemporaryFile(dir=folder if writable else None) as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,)).view(np.ndarray)
