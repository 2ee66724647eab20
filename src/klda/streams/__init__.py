"""Live streams of posts: one protocol for the sources of all platforms, and the filter by keywords."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from klda.extras import require

if TYPE_CHECKING:
    from klda.streams.connections import Backoff
    from klda.streams.filtering import Collected, Filtered, KeywordsHeld, Selection
    from klda.streams.protocol import Burst, Deleted, Event, Gap, Health, Received, Source
    from klda.streams.sources import SOURCES, source_of

# Loaded on first use: `klda rules` needs only the limits of platforms, and they need no extra.
_HOME = {
    "SOURCES": "klda.streams.sources",
    "Backoff": "klda.streams.connections",
    "Burst": "klda.streams.protocol",
    "Collected": "klda.streams.filtering",
    "Deleted": "klda.streams.protocol",
    "Event": "klda.streams.protocol",
    "Filtered": "klda.streams.filtering",
    "Gap": "klda.streams.protocol",
    "Health": "klda.streams.protocol",
    "KeywordsHeld": "klda.streams.filtering",
    "Received": "klda.streams.protocol",
    "Selection": "klda.streams.filtering",
    "Source": "klda.streams.protocol",
    "source_of": "klda.streams.sources",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'klda.streams' has no attribute {name!r}")
    require("monitor", "reading streams")
    return getattr(import_module(_HOME[name]), name)
