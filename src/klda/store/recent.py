"""The ids stored last, so that a source that steps back after a break brings nothing twice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds


class RecentIds:
    """The newest ids, as many as asked for; older ones are forgotten, so that memory stays bounded.

    >>> recent = RecentIds(2)
    >>> recent.add(["a", "b", "c"])
    >>> recent.fresh(pa.array(["a", "b", "d", "d"])).to_pylist()
    [True, False, True, False]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._ids: dict[str, None] = {}  # in the order of arrival

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Iterable[str]) -> None:
        """Remembers ids that were stored."""
        self._ids.update(dict.fromkeys(ids))
        for old in list(islice(self._ids, max(0, len(self._ids) - self._most))):
            del self._ids[old]

    def fresh(self, ids: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Which ids are neither remembered nor met before among themselves."""
        met: set[str] = set()
        new = []
        for name in ids.to_pylist():
            new.append(name not in self._ids and name not in met)
            met.add(name)
        return pa.array(new, pa.bool_())


def newest_ids(stored: ds.Dataset, source: str, sample: bool, last: int, most: int) -> list[str]:
    """Ids of a source's newest batches up to `last`, oldest first: of so many batches that they hold `most` or more."""
    own = (pc.field("source") == source) & (pc.field("sample") == sample)
    reach = 64
    while reach < last and stored.count_rows(filter=own & (pc.field("batch") > last - reach)) < most:
        reach *= 2
    found = stored.to_table(columns=["id", "batch"], filter=own & (pc.field("batch") > last - reach))
    ids: list[str] = found.sort_by("batch").column("id").to_pylist()
    return ids
