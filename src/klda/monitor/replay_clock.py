"""A replayed archive by its own calendar: bursts never reach over the end of a window.

The clock of a replay is the time of its posts. Before the first post of each window comes a burst without posts: that
is the moment to close the window before and to change the keywords, so that every post meets the list of its window.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from klda.streams import Burst, Event, Health, Received, Source
from klda.streams.replay import Place
from klda.text.windows import Windowing
from klda.types import KeywordSet, Window


class ByEventTime:
    """A replay, cut at the ends of windows; its cursors count posts, so that each part has one of its own."""

    replayable = True
    unfiltered = True

    def __init__(self, replay: Source, windowing: Windowing) -> None:
        self._replay, self._windowing = replay, windowing
        self.window: Window | None = None
        """The window that the replay has reached."""

    @property
    def name(self) -> str:
        """That of the replay."""
        return self._replay.name

    @property
    def health(self) -> Health:
        """That of the replay."""
        return self._replay.health

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Passed on."""
        await self._replay.update_keywords(keywords)

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields the posts after the cursor, and an empty burst as each window begins."""
        place = Place.of(cursor)
        events: tuple[Event, ...] = ()
        async with aclosing(self._replay.bursts(cursor)) as bursts:
            async for burst in bursts:
                events += burst.events
                place = Place.of(burst.cursor)
                for part in self._cut(events, place, len(events) - 1):  # the last waits for the one after it
                    yield part
                events = events[-1:]
        for part in self._cut(events, place, len(events)):
            yield part

    def _cut(self, events: tuple[Event, ...], end: Place, stop: int) -> Iterator[Burst]:
        """The first `stop` events, cut where a window begins; `end` is the place after all of them."""
        passed = end.passed - len(events)
        times = [event.row.time for event in events if isinstance(event, Received)]
        start = 0
        for at in range(stop):
            agreed = min(times[at : at + 2])  # one post with a wrong clock closes no window
            if self.window is None or _instant(agreed) >= self.window.end:
                here = str(end._replace(passed=passed + at))
                if at > start:
                    yield Burst(events[start:at], here)
                self.window = self._windowing.holding(_instant(agreed))
                yield Burst((), here)
                start = at
        if stop > start:
            yield Burst(events[start:stop], str(end._replace(passed=passed + stop)))


def _instant(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
