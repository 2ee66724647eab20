"""An archive replayed as a live source: at its own pace, faster, or as fast as possible."""

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
    """How far an archive was read: the number of posts, and the id of the first post, which identifies the archive.

    >>> str(Place.of("30 post-1")), Place.of("30").first
    ('30 post-1', '')
    """

    passed: int = 0
    first: str = ""

    @classmethod
    def of(cls, cursor: str | None) -> Place:
        """The place of a cursor; the start without one."""
        passed, _, first = (cursor or "0").partition(" ")
        if not passed.isdecimal():
            raise SettingError(f"cursor {cursor!r}: a cursor of a replay begins with a number of posts")
        return cls(int(passed), first)

    def __str__(self) -> str:
        return f"{self.passed} {self.first}" if self.first else str(self.passed)


class Replay:
    """The posts of an archive, in its order; ends at the end of the archive. The cursor is a `Place`.

    posts: a file or folder, a list of them, or an object with `batches()`. speed: seconds of the archive that pass in
    one second; 0 means as fast as possible. timezone, date_format: how to read the times of files, as in `read_posts`.
    """

    replayable = True
    unfiltered = True
    name = "replay"

    def __init__(
        self,
        posts: HasBatches | PathLike | list[PathLike],
        *,
        speed: float = 0.0,
        timezone: str | None = None,
        date_format: str | None = None,
    ) -> None:
        if speed < 0:
            raise SettingError(f"speed must not be negative, got {speed}")
        self.health = Health()
        self._posts = (
            posts if isinstance(posts, HasBatches) else read_posts(posts, timezone=timezone, date_format=date_format)
        )
        self._speed = speed

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Does nothing, because the source brings all posts."""

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of the posts after the cursor; of all posts if the cursor is of another archive."""
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
    """The rows after a place, one burst at a time, each with its place."""
    seen = 0
    for batch in posts.batches():
        if seen == 0 < batch.num_rows:
            first = batch.column("id")[0].as_py()
            place = Place(place.passed if place.first in ("", first) else 0, first)
        for at in range(max(place.passed - seen, 0), batch.num_rows, BURST):
            yield place._replace(passed=seen + at), rows_of(batch.slice(at, BURST))
        seen += batch.num_rows


def rows_of(batch: pa.RecordBatch) -> list[Row]:
    """The rows of a batch of the post table."""
    columns = [batch.column(name) for name in POST_SCHEMA.names]
    columns[1] = columns[1].cast(pa.int64())
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return [Row._make((*row[:6], tuple(row[6] or ()), *row[7:])) for row in rows]
