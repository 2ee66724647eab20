"""How far a replay has come by its own calendar: noted as it goes, because its posts cannot tell.

One of them may have a wrong clock. What a replay has collected by then was collected with the list that held, whatever
is decided later.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from klda.monitor.monitor import Monitor
from klda.store.delta.layout import window_name, window_start
from klda.store.delta.tally import ALL
from klda.types import Window

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
