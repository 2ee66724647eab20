"""What came by lately, to drop what comes again: after stepping back, or over two connections at once."""

from __future__ import annotations

from collections import OrderedDict

from klda.sources.live.protocol import Deleted, Event, Received

CAPACITY = 65_536
"""A minute of a stream twenty times as busy as Bluesky's."""


class Recent:
    """The latest events, as many as fit.

    >>> recent, gone = Recent(), Deleted("1")
    >>> recent.is_new(gone), recent.is_new(gone)
    (True, False)
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._seen: OrderedDict[tuple[object, ...], None] = OrderedDict()

    def is_new(self, event: Event) -> bool:
        """Whether the event has not come by lately; it is remembered."""
        if isinstance(event, Received):
            key: tuple[object, ...] = (event.row.id, event.row.text) if event.edited else (event.row.id,)
        elif isinstance(event, Deleted):
            key = (None, event.id)
        else:
            return True
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > self._capacity:
            self._seen.popitem(last=False)
        return True
