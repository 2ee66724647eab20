"""Between a connection and the collector: a buffer of limited size, and the recent events, to drop duplicates."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable

from klda.streams.protocol import Burst, Deleted, Event, Received

MAX_EVENTS = 4_096
MAX_CHARACTERS = 16_000_000
CAPACITY = 65_536
"""Events of one minute in a stream twenty times as busy as Bluesky's."""


class Buffer:
    """Events that wait for the collector. When the buffer is full, the reader waits, and so does the connection."""

    def __init__(self, cursor: str | None = None, events: int = MAX_EVENTS, characters: int = MAX_CHARACTERS) -> None:
        self.cursor = cursor
        self._max_events, self._max_characters = events, characters
        self._events: list[Event] = []
        self._characters = 0
        self._filled, self._room = asyncio.Event(), asyncio.Event()

    async def put(self, event: Event, cursor: str | None = None) -> None:
        """Waits for room, and adds an event with the cursor after it."""
        while len(self._events) >= self._max_events or self._characters > self._max_characters:
            self._room.clear()
            await self._room.wait()
        self._events.append(event)
        if isinstance(event, Received):
            self._characters += len(event.row.text)
        self.advance(cursor)

    def advance(self, cursor: str | None) -> None:
        """Moves the cursor, and wakes the collector."""
        self.cursor = cursor or self.cursor
        self._filled.set()

    async def take(self) -> Burst:
        """All waiting events; waits until there is something."""
        await self._filled.wait()
        self._filled.clear()
        events, self._events, self._characters = self._events, [], 0
        self._room.set()
        return Burst(tuple(events), self.cursor)


async def buffered(
    reading: Callable[[Buffer], Awaitable[None]], cursor: str | None = None
) -> AsyncGenerator[Burst, None]:
    """Bursts of the events that a reader, in a task of its own, puts into a buffer; both end or fail together."""
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
    """The latest events, up to a capacity, as 64-bit hashes with a key of this process.

    A new event is taken for an earlier one about once in 10¹⁴ events.

    >>> recent, gone = Recent(), Deleted("1")
    >>> recent.is_new(gone), recent.is_new(gone)
    (True, False)
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._seen: set[int] = set()
        self._order: deque[int] = deque()

    def is_new(self, event: Event) -> bool:
        """Whether the event is not among the recent ones; it is remembered."""
        if isinstance(event, Received):
            if event.edited and hash((None, event.row.id)) in self._seen:
                return False  # its deletion came first, on another connection
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
