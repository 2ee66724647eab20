"""Closing windows: from then on a window counts as whole, and proposals may learn from it.

Closing says that a window has ended; it seals nothing: a post that comes late still lands in the window of its time.
"""

from __future__ import annotations

from datetime import datetime

from klda.monitor.monitor import Monitor
from klda.monitor.replay_clock import reached
from klda.store import AuditEntry
from klda.store.delta.rows import window_name, window_start
from klda.types import Window

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
