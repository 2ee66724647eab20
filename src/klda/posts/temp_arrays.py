"""Arrays in temporary files without a name: they may exceed memory, and disappear however the process ends."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def nameless(size: int, dtype: DTypeLike, folder: Path | None = None) -> NDArray[Any]:
    """An array of zeros in a temporary file in `folder`, or in the system's temporary folder if that is not writable.

    >>> array = nameless(3, np.int32)
    >>> array[1:] = 7
    >>> array.tolist()
    [0, 7, 7]
    """
    if not size:
        return np.zeros(0, dtype=dtype)
    writable = folder is not None and os.access(folder, os.W_OK)
    with tempfile.TemporaryFile(dir=folder if writable else None) as file:
        _take_room(file.fileno(), size * np.dtype(dtype).itemsize)
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,)).view(np.ndarray)


def _take_room(file: int, n_bytes: int) -> None:
    """Reserves the space on the disk. Without it, writing to a mapped file on a full disk would end the process."""
    if not hasattr(os, "posix_fallocate"):  # for example on macOS
        return
    try:
        os.posix_fallocate(file, 0, n_bytes)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):  # file systems that cannot reserve space
            raise
