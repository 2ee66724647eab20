"""What lies between the task that reads a connection and whoever takes the posts: bounded, so that memory is."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable

from klda.streams.protocol import Burst, Deleted, Event, Received

MAX_EVENTS = 4_096
MAX_CHARACTERS = 16_000_000
CAPACITY = 65_536
"""A minute of a stream twenty times as busy as Bluesky's."""


class Buffer:
    """Events that wait to be taken; a reader that fills it has to wait, and with it the connection."""

    def __init__(self, cursor: str | None = None, events: int = MAX_EVENTS, characters: int = MAX_CHARACTERS) -> None:
        self.cursor = cursor
        self._max_events, self._max_characters = events, characters
        self._events: list[Event] = []
        self._characters = 0
        self._filled, self._room = asyncio.Event(), asyncio.Event()

    async def put(self, event: Event, cursor: str | None = None) -> None:
        """Adds an event, when there is room; with the cursor after it."""
        while len(self._events) >= self._max_events or self._characters > self._max_characters:
            self._room.clear()
            await self._room.wait()
        self._events.append(event)
        if isinstance(event, Received):
            self._characters += len(event.row.text)
        self.advance(cursor)

    def advance(self, cursor: str | None) -> None:
        """Moves the cursor on, and wakes whoever waits."""
        self.cursor = cursor or self.cursor
        self._filled.set()

    async def take(self) -> Burst:
        """Everything that is there, once something is."""
        await self._filled.wait()
        self._filled.clear()
        events, self._events, self._characters = self._events, [], 0
        self._room.set()
        return Burst(tuple(events), self.cursor)


async def buffered(
    reading: Callable[[Buffer], Awaitable[None]], cursor: str | None = None
) -> AsyncGenerator[Burst, None]:
    """Yields what the reader, run in a task of its own, puts into a buffer; ends or fails when it does."""
    buffer = Buffer(cursor)
    reader = asyncio.ensure_future(reading(buffer))
    reader.add_done_callback(lambda _: buffer.advance(None))
    try:
        while not reader.done():
            yield await buffer.take()
        buffer.advance(None)
        yield await buffer.take()
        await reader
    finally:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


class Recent:
    """The latest events, as many as fit; each as a 64-bit hash, whose key is this process's own.

    Among so many, a new event is taken for one that came before once in 10¹⁴ times.

    >>> recent, gone = Recent(), Deleted("1")
    >>> recent.is_new(gone), recent.is_new(gone)
    (True, False)
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._seen: set[int] = set()
        self._order: deque[int] = deque()

    def is_new(self, event: Event) -> bool:
        """Whether the event has not come by lately; it is remembered."""
        if isinstance(event, Received):
            if event.edited and hash((None, event.row.id)) in self._seen:
                return False  # overtaken by its deletion on another connection
            key = hash((event.row.id, event.row.text) if event.edited else event.row.id)
        elif isinstance(event, Deleted):
            key = hash((None, event.id))
        else:
            return True
        if key in self._seen:
            return False
        self._seen.add(key)
        self._order.append(key)
        if len(self._order) > self._capacity:
            self._seen.discard(self._order.popleft())
        return True
