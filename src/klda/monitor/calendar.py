"""A replayed archive by its own calendar: bursts never reach over the end of a window.

The clock of a replay is the time of its posts. Before the first post of each window comes a burst without posts: that
is the moment to close the window before and to change the keywords, so that every post meets the list of its window.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from klda.monitor.monitor import Monitor
from klda.store import AuditEntry
from klda.store.delta.layout import window_name, window_start
from klda.store.delta.tally import ALL
from klda.streams import Burst, Event, Health, Received, Source
from klda.streams.replay import Place
from klda.text.windows import Windowing
from klda.types import KeywordSet, Window

REACHED = "reached"
"""What the audit log calls it."""

_HOUR = timedelta(hours=1)


def note_reached(monitor: Monitor, window: Window) -> None:
    """Notes that a replay comes to a window; call it before posts of the window are stored."""
    if window != reached(monitor):
        monitor.records.journal.note("klda", REACHED, window_name(window.start))


def note_end(monitor: Monitor) -> None:
    """Notes that a replay has come to its end: its last window is over, if it is so by the calendar."""
    last = reached(monitor)
    if last is not None and last.end <= monitor.clock() and collected_until(monitor) != last.start:
        note_reached(monitor, monitor.windowing.holding(last.end))


def reached(monitor: Monitor) -> Window | None:
    """The window that a replay is in; None where that was never noted."""
    noted = monitor.records.journal.entries(1, action=REACHED)
    return monitor.windowing.holding(window_start(noted[0].subject)) if noted else None


def horizon(monitor: Monitor) -> datetime:
    """The end of the window that a monitor is in by its calendar: posts dated later have a wrong clock."""
    ends = monitor.windowing.holding(monitor.clock()).end
    window = reached(monitor) if monitor.settings.by_event_time else None
    return ends if window is None else min(ends, window.end)


def today(monitor: Monitor) -> datetime:
    """Now, by a monitor's calendar: of a replay the time that it has come to, and since then as much as the clock.

    So posts of long ago are as old as in their own days, and still grow old where a replay has ended or rests.
    """
    now, until = monitor.clock(), collected_until(monitor) if monitor.settings.by_event_time else None
    if until is None:
        return now
    [noted] = monitor.records.journal.entries(1, action=REACHED)
    return min(now, until + max(now - noted.at, timedelta(0)))


def collected_until(monitor: Monitor) -> datetime | None:
    """Up to when a replay has collected with the list that holds, by the hour; None where that was never noted."""
    window = reached(monitor)
    if window is None:
        return None
    hours = monitor.records.volume.series("hour", window.start, window.end, keywords=[ALL])
    return min(hours[-1].start + _HOUR, window.end) if hours else window.start


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


ACTION = "close"


def close(monitor: Monitor, until: datetime | None = None) -> list[Window]:
    """The windows that are closed by this call: those that hold posts and ended by a time (now, unless said).

    Of a replay, now is when the window begins that it has reached.
    """
    time = until or _now(monitor)
    began, done = monitor.began(), set(closed(monitor))
    fresh = []
    for size in monitor.posts().windows():
        window = size.window
        if window.end > time or window.end <= began or window in done:
            continue
        detail = {"posts": size.posts, "sample": size.sample, "keywords": list(monitor.active_in(window).texts)}
        _note(monitor, AuditEntry(monitor.clock(), "klda", ACTION, window_name(window.start), detail))
        fresh.append(window)
    return fresh


def closed(monitor: Monitor) -> list[Window]:
    """All closed windows, in order."""
    entries = monitor.records.journal.entries(limit=100_000, action=ACTION)
    return sorted(monitor.windowing.holding(window_start(entry.subject)) for entry in entries)


def _now(monitor: Monitor) -> datetime:
    window = reached(monitor) if monitor.settings.by_event_time else None
    return monitor.clock() if window is None else window.start


def _note(monitor: Monitor, entry: AuditEntry) -> None:
    """Notes a closing under an id made from the window: whoever closes it a second time changes nothing."""
    name, journal = f"{ACTION} {monitor.name} {entry.subject}", monitor.records.journal
    monitor.records.database.write(lambda connection: journal.note_within(connection, name, entry))
