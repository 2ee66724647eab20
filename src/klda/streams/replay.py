"""An archive played again as if it were live: at its own pace, faster, or as fast as it can be read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from klda.errors import SettingError
from klda.posts.files import PathLike
from klda.posts.formats.outcome import Row
from klda.posts.reader import read_posts
from klda.posts.schema import POST_SCHEMA, HasBatches
from klda.streams.protocol import Burst, Health, Received
from klda.types import KeywordSet

BURST = 1024


class Place(NamedTuple):
    """How far an archive was read: how many posts have passed, and the id of the first, as another archive has another.

    >>> str(Place.of("30 post-1")), Place.of("30").first
    ('30 post-1', '')
    """

    passed: int = 0
    first: str = ""

    @classmethod
    def of(cls, cursor: str | None) -> Place:
        """The place that a cursor names, or the start."""
        passed, _, first = (cursor or "0").partition(" ")
        if not passed.isdecimal():
            raise SettingError(f"cursor {cursor!r}: those of a replay begin with a number of posts")
        return cls(int(passed), first)

    def __str__(self) -> str:
        return f"{self.passed} {self.first}" if self.first else str(self.passed)


class Replay:
    """The posts of an archive, in its order; the cursor is a `Place`. It ends when the archive does.

    posts: a file or folder, several of them, or anything with `batches()`. speed: seconds of the archive in one
    second of ours; 0 waits for nothing.
    """

    replayable = True
    unfiltered = True
    name = "replay"

    def __init__(self, posts: HasBatches | PathLike | list[PathLike], *, speed: float = 0.0) -> None:
        if speed < 0:
            raise SettingError(f"speed must not be negative, got {speed}")
        self.health = Health()
        self._posts = posts if isinstance(posts, HasBatches) else read_posts(posts)
        self._speed = speed

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Does nothing: everything arrives anyway."""

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields the posts after the cursor; all of them, where it is that of another archive."""
        began, first = time.monotonic(), None
        for place, rows in _after(self._posts, Place.of(cursor)):
            for due, together in groupby(rows, key=lambda row: row.time if self._speed else 0):
                first = due if first is None else first
                if self._speed:
                    wait = (due - first) / 1e6 / self._speed - (time.monotonic() - began)
                    await asyncio.sleep(max(wait, 0.0))
                events = tuple(map(Received, together))
                for event in events:
                    self.health.count(event)
                place = place._replace(passed=place.passed + len(events))
                yield Burst(events, str(place))
            await asyncio.sleep(0)


def _after(posts: HasBatches, place: Place) -> Iterator[tuple[Place, list[Row]]]:
    """The rows after a place, a burst at a time, and where each burst begins."""
    seen = 0
    for batch in posts.batches():
        if seen == 0 < batch.num_rows:
            first = batch.column("id")[0].as_py()
            place = Place(place.passed if place.first in ("", first) else 0, first)
        for at in range(max(place.passed - seen, 0), batch.num_rows, BURST):
            yield place._replace(passed=seen + at), rows_of(batch.slice(at, BURST))
        seen += batch.num_rows


def rows_of(batch: pa.RecordBatch) -> list[Row]:
    """A batch of the post table as rows."""
    columns = [batch.column(name) for name in POST_SCHEMA.names]
    columns[1] = columns[1].cast(pa.int64())
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return [Row._make((*row[:6], tuple(row[6] or ()), *row[7:])) for row in rows]
