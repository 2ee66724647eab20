"""Documents as arrays: token counts in CSR form, times, windows, and the row of each post."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from klda.posts.temp_arrays import nameless

Ints = NDArray[np.int64]
Words = NDArray[np.int32]

IN_MEMORY = 64 << 20
"""Larger arrays, in bytes, lie in a file; see `klda.posts.temp_arrays`."""
BLOCK = 1 << 17
"""Lists gathered at a time when there are many."""


@dataclass(frozen=True)
class Ragged:
    """Lists of numbers of unequal length, end to end.

    >>> lists = Ragged.of([[3, 4], [], [5]])
    >>> lists.take(np.array([2, 0])).lists()
    [[5], [3, 4]]
    """

    indptr: Ints  # (rows + 1,)
    values: Words  # (total,)

    @classmethod
    def of(cls, lists: list[list[int]]) -> Ragged:
        """These lists, end to end."""
        lengths = np.fromiter((len(row) for row in lists), dtype=np.int64, count=len(lists))
        values = np.fromiter((v for row in lists for v in row), dtype=np.int32, count=int(lengths.sum()))
        return cls(offsets(lengths), values)

    @classmethod
    def joined(cls, parts: Sequence[Ragged]) -> Ragged:
        """The lists of all parts, one part after another."""
        lengths = end_to_end([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)])
        return cls(offsets(lengths), end_to_end([np.zeros(0, dtype=np.int32), *(part.values for part in parts)]))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> Words:
        return self.values[self.indptr[row] : self.indptr[row + 1]]

    @property
    def lengths(self) -> Ints:
        """How long each list is. # (rows,)"""
        return np.diff(self.indptr)

    @property
    def rows(self) -> Ints:
        """Which list each value belongs to. # (total,)"""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, index: Ints) -> Ragged:
        """The lists at these positions, in that order."""
        starts, lengths = runs(self.indptr, index)
        return Ragged(offsets(lengths), picked(self.values, starts, lengths))

    def lists(self) -> list[list[int]]:
        """Plain lists, for tests and small outputs."""
        return [self[row].tolist() for row in range(len(self))]


@dataclass(frozen=True)
class Documents:
    """Token counts and facts of documents, in the order of time; `post` is the row of each in the table of posts."""

    indptr: Ints  # (D + 1,)
    words: Words  # (nnz,)  ascending within a document
    counts: Words  # (nnz,)
    time: Ints  # (D,)  microseconds since 1970, UTC
    window: Words  # (D,)
    post: Ints  # (D,)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def n_tokens(self) -> int:
        """Tokens in all documents."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def lengths(self) -> Ints:
        """Tokens of each document. # (D,)"""
        return sums(self.counts, self.indptr)

    def take(self, index: Ints | slice) -> Documents:
        """The documents at these positions; a slice copies nothing but the offsets."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                low, high = self.indptr[start], self.indptr[stop]
                return Documents(
                    self.indptr[start : stop + 1] - low,
                    self.words[low:high],
                    self.counts[low:high],
                    self.time[start:stop],
                    self.window[start:stop],
                    self.post[start:stop],
                )
            index = np.arange(start, stop, step)
        starts, lengths = runs(self.indptr, index)
        return Documents(
            offsets(lengths),
            picked(self.words, starts, lengths),
            picked(self.counts, starts, lengths),
            self.time[index],
            self.window[index],
            self.post[index],
        )

    def shifted(self, windows: int) -> Documents:
        """The same documents with window numbers lowered by `windows`."""
        return Documents(**(self.arrays() | {"window": self.window - np.int32(windows)}))

    def moved(self, posts: int) -> Documents:
        """The same documents with rows of posts raised by `posts`."""
        return Documents(**(self.arrays() | {"post": self.post + posts}))

    def arrays(self) -> dict[str, Any]:
        """The arrays by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def concatenated(first: Documents, second: Documents) -> Documents:
    """The first documents, then the second, in no order of time."""
    names = ("words", "counts", "time", "window", "post")
    return Documents(
        np.concatenate([first.indptr, first.indptr[-1] + second.indptr[1:]]),
        *(end_to_end([getattr(first, name), getattr(second, name)]) for name in names),
    )


def merged(first: Documents, second: Documents) -> Documents:
    """All documents of both, in the order of time."""
    both = concatenated(first, second)
    return both.take(time_order(both))


def time_order(documents: Documents) -> Ints:
    """Positions of documents by time, by post where times are equal. # (D,)"""
    return np.lexsort((documents.post, documents.time))


def distinct(keys: NDArray[Any]) -> tuple[Ints, Ints]:
    """Distinct numbers, ascending, and how often each occurs; sorting is faster than hashing for many keys.

    >>> [part.tolist() for part in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 2]]
    """
    ordered = np.sort(keys)
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), dtype=bool), ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.diff(np.append(starts, len(keys)))


def offsets(lengths: NDArray[Any]) -> Ints:
    """Offsets of lists of these lengths.

    >>> offsets(np.array([2, 0, 1]))
    array([0, 2, 2, 3])
    """
    found = room(len(lengths) + 1, np.int64)
    found[0] = 0
    np.cumsum(lengths, out=found[1:])
    return found


def runs(indptr: Ints, index: Ints) -> tuple[Ints, Ints]:
    """Where the lists at these positions begin, and how long they are."""
    starts, ends = chosen(indptr, index), chosen(indptr[1:], index)
    return starts, np.subtract(ends, starts, out=ends)


def chosen(values: NDArray[Any], index: Ints) -> NDArray[Any]:
    """The values at these positions; in a file when they are many."""
    # "wrap" writes straight into `out`; "raise" would buffer a second copy.
    return np.take(values, index, out=room(len(index), values.dtype), mode="wrap")


def room(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """An empty array of this size, in a file if it is large."""
    return np.empty(size, dtype) if size * np.dtype(dtype).itemsize <= IN_MEMORY else nameless(size, dtype)


def gather(starts: Ints, lengths: Ints) -> Ints:
    """Positions of runs that begin at `starts`, end to end.

    >>> gather(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    total = int(lengths.sum())
    shift = np.repeat(starts - offsets(lengths)[:-1], lengths)
    return np.arange(total, dtype=np.int64) + shift


def picked(values: NDArray[Any], starts: Ints, lengths: Ints) -> NDArray[Any]:
    """The values of runs that begin at `starts`, end to end; in a file when they are many, a block at a time.

    >>> picked(np.array([7, 8, 9]), np.array([2, 0]), np.array([1, 2]))
    array([9, 7, 8])
    """
    size = int(lengths.sum())
    if size * values.itemsize <= IN_MEMORY:
        return values[gather(starts, lengths)]
    found, done = nameless(size, values.dtype), 0
    for low in range(0, len(starts), BLOCK):
        some = values[gather(starts[low : low + BLOCK], lengths[low : low + BLOCK])]
        found[done : done + len(some)] = some
        done += len(some)
    return found


def end_to_end(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The arrays one after another; in a file when they are large."""
    size, dtype = sum(map(len, arrays)), np.result_type(*arrays)
    return np.concatenate(arrays, out=room(size, dtype))


def sums(values: NDArray[Any], indptr: Ints) -> Ints:
    """The sum of each run of whole numbers, a block of runs at a time. # (rows,)

    >>> sums(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    array([3, 0, 3])
    """
    found = room(len(indptr) - 1, np.int64)
    for low in range(0, len(found), BLOCK):
        edges = indptr[low : low + BLOCK + 1]
        found[low : low + BLOCK] = np.diff(offsets(values[edges[0] : edges[-1]])[edges - edges[0]])
    return found
