"""Deduplication of ids in 12 to 13 bytes each, for ids of any length.

An id is kept as a 96-bit digest. At a billion posts, the chance that two different ids share a digest is below 10⁻¹⁰.
Digests are kept in a few sorted runs, each at least `RATIO` times as long as the next. A batch of new digests is a new
run; runs of similar length are merged. A merge works in place and block by block, so it needs no second copy of the
data. With a memory limit, long runs are kept in memory-mapped temporary files.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from klda.posts.temp_arrays import nameless

RATIO = 8
BLOCK = 1 << 14
DIGEST_BYTES = 12

Bools = NDArray[np.bool_]
_HIGH_SEED, _LOW_SEED = 1, 2


class SeenIds:
    """The ids seen so far.

    >>> seen = SeenIds()
    >>> seen.add(pa.array(["a", "b", "a"])).tolist(), seen.add(pa.array(["b", "c"])).tolist()
    ([True, True, False], [False, True])
    >>> len(seen)
    3
    """

    def __init__(self, memory: int | None = None) -> None:
        self._runs: list[_Run] = []
        self._most = (
            None if memory is None else memory // (2 * DIGEST_BYTES)
        )  # digests in the longest run; the other runs are shorter

    def __len__(self) -> int:
        return sum(run.high.size for run in self._runs)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the digests take, without those in files."""
        return sum(run.high.nbytes + run.low.nbytes for run in self._runs if not run.on_disk)

    def add(self, ids: pa.Array) -> Bools:
        """Which of these ids are new; they are remembered."""
        high, low = digests(ids)
        order = np.lexsort((low, high))  # stable: of equal digests, the first one stays first
        high, low = high[order], low[order]
        new = np.ones(high.size, dtype=np.bool_)
        new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        for run in self._runs:
            new &= ~run.contains(high, low)
        if new.any():
            self._runs.append(_Run(high[new], low[new], self._most))
        while len(self._runs) > 1 and self._runs[-1].high.size * RATIO > self._runs[-2].high.size:
            newest = self._runs.pop()
            self._runs[-1].merge(newest)
        first = np.empty_like(new)
        first[order] = new
        return first


class _Run:
    """Digests, sorted by their high part."""

    def __init__(self, high: NDArray[np.uint64], low: NDArray[np.uint32], most: int | None) -> None:
        self.high, self.low = high, low
        self.on_disk = False
        self._most = most

    def contains(self, high: NDArray[np.uint64], low: NDArray[np.uint32]) -> Bools:
        """Which of these digests, sorted, are in the run."""
        found = np.zeros(high.size, dtype=np.bool_)
        at = np.searchsorted(self.high, high)
        left = np.flatnonzero(at < self.high.size)
        while left.size:  # once, unless two ids share the high part
            left = left[self.high[at[left]] == high[left]]
            found[left] = self.low[at[left]] == low[left]
            left = left[~found[left]]
            at[left] += 1
            left = left[at[left] < self.high.size]
        return found

    def merge(self, other: _Run) -> None:
        """Merges another run into this one, from the back: so every element moves once, into free space."""
        stop, taken = self.high.size, other.high.size
        at = np.searchsorted(self.high, other.high)
        self._grow(stop + taken)
        while taken:
            start = max(0, stop - BLOCK)
            first = int(np.searchsorted(at, start)) if start else 0
            here = slice(first, taken)
            for mine, theirs in ((self.high, other.high), (self.low, other.low)):
                mine[start + first : stop + taken] = np.insert(mine[start:stop], at[here] - start, theirs[here])
            stop, taken = start, first

    def _grow(self, size: int) -> None:
        """Makes room behind the digests, in memory up to the limit, above it in files."""
        if self._most is None or size <= self._most:
            self.high.resize(size, refcheck=False)
            self.low.resize(size, refcheck=False)
            return
        for name in ("high", "low"):
            old = getattr(self, name)
            new = nameless(size, old.dtype)
            new[: old.size] = old
            setattr(self, name, new)
        self.on_disk = True


def digests(ids: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """A 96-bit digest of each id, as a high and a low part; stable within a process."""
    series = pl.Series(ids)
    high = series.hash(_HIGH_SEED).to_numpy()
    low = series.hash(_LOW_SEED).to_numpy().astype(np.uint32)  # the lower half
    return high, low
