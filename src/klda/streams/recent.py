"""What came by lately, to drop what comes again: after stepping back, or over two connections at once."""

from __future__ import annotations

from collections import deque

from klda.streams.protocol import Deleted, Event, Received

CAPACITY = 65_536
"""A minute of a stream twenty times as busy as Bluesky's."""


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
