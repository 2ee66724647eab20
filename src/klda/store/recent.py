"""The ids stored last, so that a source that steps back after a break brings nothing twice."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray


class RecentIds:
    """The newest ids, as many as asked for; older ones are forgotten.

    An id is kept as a digest of 64 bits, in an array that is there from the start: memory does not grow with what is
    stored. Among 100,000 ids a new one is taken for known once in 10¹⁴ times; nobody can bring that about, because the
    digests of each process have a key of their own.

    >>> recent = RecentIds(2)
    >>> recent.add(["a", "b", "c"])
    >>> recent.fresh(pa.array(["a", "b", "d", "d"])).to_pylist()
    [True, False, True, False]
    """

    def __init__(self, most: int) -> None:
        self._key = secrets.token_bytes(16)
        self._ring: NDArray[np.uint64] = np.zeros(most, dtype=np.uint64)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._ring))

    def add(self, ids: Iterable[str]) -> None:
        """Remembers ids that were stored."""
        new = self._digests(ids)[-len(self._ring) :]
        self._ring[(self._added + np.arange(len(new))) % len(self._ring)] = new
        self._added += len(new)

    def fresh(self, ids: pa.Array | pa.ChunkedArray, again: Iterable[str] = ()) -> pa.Array:
        """Which ids are neither remembered, save those that may come again, nor met before among themselves."""
        digests = self._digests(ids.to_pylist())
        new = np.zeros(len(digests), dtype=np.bool_)
        new[np.unique(digests, return_index=True)[1]] = True
        return pa.array(new & (~np.isin(digests, self._ring[: len(self)]) | np.isin(digests, self._digests(again))))

    def _digests(self, ids: Iterable[str]) -> NDArray[np.uint64]:
        encoded = (name.encode("utf-8", "surrogatepass") for name in ids)
        joined = b"".join(blake2b(name, digest_size=8, key=self._key).digest() for name in encoded)
        return np.frombuffer(joined, dtype=np.uint64)


def newest_ids(stored: ds.Dataset, source: str, sample: bool, last: int, most: int) -> list[str]:
    """Ids of a source's newest batches up to `last`, oldest first: of so many batches that they hold `most` or more."""
    reach = 64
    while True:
        newest = (pc.field("sample") == sample) & (pc.field("batch") > last - reach)
        found = stored.to_table(columns=["id", "batch", "source"], filter=newest)
        found = found.filter(pc.equal(found.column("source"), source))  # not before: see `StoredPosts.where`
        if reach >= last or found.num_rows >= most:
            break
        reach *= 2
    ids: list[str] = found.sort_by("batch").column("id").to_pylist()
    return ids
