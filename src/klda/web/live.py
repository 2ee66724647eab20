"""Counts as they grow, sent to whoever watches. All watchers of a monitor share one look at its counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi.sse import ServerSentEvent
from starlette.requests import Request

from klda.monitor.monitor import Monitor
from klda.monitor.volume_series import now
from klda.safe_text import visible

EVERY = 2.0
"""Seconds between two looks."""
MOST_WATCHERS = 200
_STEP = 0.5  # seconds in which a watcher notices that the studio ends


class Live:
    """The newest counts of each monitor, looked up at most every `EVERY` seconds."""

    def __init__(self) -> None:
        self.watchers = 0
        self.over = False
        """Whether the studio ends: those who listen would keep it from doing so."""
        self._seen: dict[str, tuple[float, dict[str, Any]]] = {}

    async def counts(self, monitor: Monitor) -> dict[str, Any]:
        """What the page shows of a monitor that changes by itself."""
        known = self._seen.get(monitor.name)
        if known is not None and time.monotonic() - known[0] < EVERY:
            return known[1]
        found = await asyncio.to_thread(now, monitor)
        state = "collecting" if found.running else "not running"
        counts = {"total": found.total, "window": found.posts, "state": state, "failure": visible(found.failure or "")}
        self._seen[monitor.name] = (time.monotonic(), counts)
        return counts

    async def pause(self, seconds: float) -> None:
        """Waits so long, or until the studio ends."""
        until = time.monotonic() + seconds
        while not self.over and time.monotonic() < until:
            await asyncio.sleep(_STEP)

    async def events(self, request: Request, monitor: Monitor) -> AsyncIterator[ServerSentEvent]:
        """Yields the counts whenever they have changed, until the reader leaves."""
        sent: dict[str, Any] | None = None
        with self.watched():
            while not (self.over or await request.is_disconnected()):
                counts = await self.counts(monitor)
                if counts != sent:
                    sent = counts
                    yield ServerSentEvent(data=counts)
                await self.pause(EVERY)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Counts somebody who watches, for as long as the block lasts."""
        self.watchers += 1
        try:
            yield
        finally:
            self.watchers -= 1
