"""Posts as they are written: one protocol for every platform's stream, and the filter on our side."""

from __future__ import annotations

from klda.sources.live.filtering import Collected, Filtered, KeywordsHeld, Selection
from klda.sources.live.protocol import Burst, Deleted, Event, Gap, Health, Received, Source
from klda.sources.live.reconnect import Backoff
from klda.sources.live.registry import SOURCES, source_of

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
