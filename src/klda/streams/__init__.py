"""Posts as they are written: one protocol for every platform's stream, and the filter on our side."""

from __future__ import annotations

from klda.streams.filtering import Collected, Filtered, KeywordsHeld, Selection
from klda.streams.protocol import Burst, Deleted, Event, Gap, Health, Received, Source
from klda.streams.reconnect import Backoff
from klda.streams.registry import SOURCES, source_of

__all__ = [
    "SOURCES",
    "Backoff",
    "Burst",
    "Collected",
    "Deleted",
    "Event",
    "Filtered",
    "Gap",
    "Health",
    "KeywordsHeld",
    "Received",
    "Selection",
    "Source",
    "source_of",
]
