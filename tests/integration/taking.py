"""What the tests of live sources share: posts, and somebody who takes them off a source."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from stamina.instrumentation import set_on_retry_hooks

from klda.streams import Backoff, Collected, Event, Filtered, Gap, Received, Source
from klda.types import Post

T = TypeVar("T")
SOON = Backoff(first=0.01, longest=0.05, jitter=0.01)
START = datetime(2026, 1, 5, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def run(test: Coroutine[Any, Any, T]) -> T:
    """Runs a test, in bounded time, and sees to it that no task outlives it."""

    async def bounded() -> T:
        async with asyncio.timeout(20):
            result = await test
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for _ in range(50):
            if not (left := {task for task in left if not task.done()}):
                break
            await asyncio.sleep(0.01)
        assert not left, left
        return result

    return asyncio.run(bounded())


def posts(n: int, text: Callable[[int], str] = lambda i: f"post number {i}", every: float = 0.1) -> list[Post]:
    return [Post(str(i), START + timedelta(seconds=every * i), text(i), author="anna") for i in range(n)]


@contextmanager
def watched_waits() -> Iterator[list[float]]:
    """The waits before connecting again, in seconds, as they begin: nobody need wait for them to end."""
    waits: list[float] = []
    set_on_retry_hooks([lambda details: waits.append(details.wait_for)])
    try:
        yield waits
    finally:
        set_on_retry_hooks(None)


class Taking:
    """Takes events off a source, in a task, until it is told to stop."""

    def __init__(self, source: Source, cursor: str | None = None) -> None:
        self.source, self.cursor = source, cursor
        self.events: list[Event] = []

    @property
    def ids(self) -> list[str]:
        return [event.row.id.rpartition("/")[2] for event in self.events if isinstance(event, Received)]

    @property
    def gaps(self) -> list[Gap]:
        return [event for event in self.events if isinstance(event, Gap)]

    async def _take(self) -> None:
        async with aclosing(self.source.bursts(self.cursor)) as bursts:
            async for burst in bursts:
                self.events.extend(burst.events)
                self.cursor = burst.cursor

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                if self.task.done():
                    await self.task
                await asyncio.sleep(0.005)

    async def __aenter__(self) -> Taking:
        self.task = asyncio.ensure_future(self._take())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Watching(Taking):
    """Takes what a filter leaves."""

    def __init__(self, filtered: Filtered, cursor: str | None = None) -> None:
        self.filtered, self.cursor = filtered, cursor
        self.selected: list[object] = []

    async def _take(self) -> None:
        async with aclosing(self.filtered.bursts(self.cursor)) as bursts:
            async for selection in bursts:
                self.selected.extend(selection.events)
                self.cursor = selection.cursor

    @property
    def collected(self) -> list[Collected]:
        return [event for event in self.selected if isinstance(event, Collected)]
