"""The calendar of a monitor: which windows have ended, and which are closed.

The windows of a live stream end by the clock. Those of a replayed archive end by the times of its posts. `ByEventTime`
yields a burst without posts before the first post of each window. At that moment the window before is closed and the
keywords change, so every post is matched with the list of its own window.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from klda.monitor.monitor import Monitor
from klda.store import AuditEntry
from klda.store.delta.rows import ALL, window_name, window_start
from klda.streams import Burst, Event, Health, Received, Source
from klda.streams.replay import Place
from klda.text.windows import Windowing
from klda.types import KeywordSet, Window

CLOSED = "close"
REACHED = "reached"
"""Name of the action in the audit log."""
_HOUR = timedelta(hours=1)


def close(monitor: Monitor, until: datetime | None = None) -> list[Window]:
    """The windows that this call closes: those with posts that ended before a time. The default is now.

    For a replay, now is the start of the window that it has reached. A closed window is not sealed: a late post is
    still stored in the window of its time.
    """
    time = until or _now(monitor)
    began, done = monitor.began(), set(closed(monitor))
    fresh = []
    for size in monitor.posts().windows():
        window = size.window
        if window.end > time or window.end <= began or window in done:
            continue
        detail = {"posts": size.posts, "sample": size.sample, "keywords": list(monitor.active_in(window).texts)}
        _note(monitor, AuditEntry(monitor.clock(), "klda", CLOSED, window_name(window.start), detail))
        fresh.append(window)
    return fresh


def closed(monitor: Monitor) -> list[Window]:
    """All closed windows, in order."""
    entries = monitor.records.journal.entries(limit=100_000, action=CLOSED)
    return sorted(monitor.windowing.holding(window_start(entry.subject)) for entry in entries)


def _now(monitor: Monitor) -> datetime:
    window = reached(monitor) if monitor.settings.by_event_time else None
    return monitor.clock() if window is None else window.start


def _note(monitor: Monitor, entry: AuditEntry) -> None:
    """Records a closed window under an id made from the window, so that closing it again changes nothing."""
    name, journal = f"{CLOSED} {monitor.name} {entry.subject}", monitor.records.journal
    monitor.records.database.write(lambda connection: journal.note_within(connection, name, entry))


def reached(monitor: Monitor) -> Window | None:
    """The window that a replay is in, or None if none was recorded."""
    noted = monitor.records.journal.entries(1, action=REACHED)
    return monitor.windowing.holding(window_start(noted[0].subject)) if noted else None


def horizon(monitor: Monitor) -> datetime:
    """The end of the monitor's current window. Posts that are dated later have a wrong clock."""
    ends = monitor.windowing.holding(monitor.clock()).end
    window = reached(monitor) if monitor.settings.by_event_time else None
    return ends if window is None else min(ends, window.end)


def today(monitor: Monitor) -> datetime:
    """The current time by the monitor's calendar.

    For a replay: the time of its newest posts, plus the time since they came. So retention treats old archives as if
    they were read on their own days. Their posts still age after the replay ends.
    """
    now, until = monitor.clock(), collected_until(monitor) if monitor.settings.by_event_time else None
    if until is None:
        return now
    [noted] = monitor.records.journal.entries(1, action=REACHED)
    return min(now, until + max(now - noted.at, timedelta(0)))


def collected_until(monitor: Monitor) -> datetime | None:
    """The hour up to which a replay has collected with the active list, or None if that was never recorded."""
    window = reached(monitor)
    if window is None:
        return None
    hours = monitor.records.volume.series("hour", window.start, window.end, keywords=[ALL])
    return min(hours[-1].start + _HOUR, window.end) if hours else window.start


def note_reached(monitor: Monitor, window: Window) -> None:
    """Records that a replay has reached a window. Call it before posts of the window are stored."""
    if window != reached(monitor):
        monitor.records.journal.note("klda", REACHED, window_name(window.start))


def note_end(monitor: Monitor) -> None:
    """Records that a replay has ended. Its last window is then over too, if it lies in the past."""
    last = reached(monitor)
    if last is not None and last.end <= monitor.clock() and collected_until(monitor) != last.start:
        note_reached(monitor, monitor.windowing.holding(last.end))


class ByEventTime:
    """A replay whose bursts never cross the end of a window.

    Its cursors count posts, so each part has its own cursor.
    """

    replayable = True
    unfiltered = True

    def __init__(self, replay: Source, windowing: Windowing) -> None:
        self._replay, self._windowing = replay, windowing
        self.window: Window | None = None
        """The window that the replay has reached."""

    @property
    def name(self) -> str:
        """The name of the replay."""
        return self._replay.name

    @property
    def health(self) -> Health:
        """The health of the replay."""
        return self._replay.health

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Passes the keywords on to the replay."""
        await self._replay.update_keywords(keywords)

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields the posts after the cursor, and an empty burst at the start of each window."""
        place = Place.of(cursor)
        events: tuple[Event, ...] = ()
        async with aclosing(self._replay.bursts(cursor)) as bursts:
            async for burst in bursts:
                events += burst.events
                place = Place.of(burst.cursor)
                for part in self._cut(events, place, len(events) - 1):  # the last event waits for the next one
                    yield part
                events = events[-1:]
        for part in self._cut(events, place, len(events)):
            yield part

    def _cut(self, events: tuple[Event, ...], end: Place, stop: int) -> Iterator[Burst]:
        """The first `stop` events, cut where a window begins. `end` is the place after all events."""
        passed = end.passed - len(events)
        times = [event.row.time for event in events if isinstance(event, Received)]
        start = 0
        for at in range(stop):
            agreed = min(times[at : at + 2])  # two posts must agree: one post with a wrong clock closes no window
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
