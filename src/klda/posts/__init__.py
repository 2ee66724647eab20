"""Posts: reading files in the formats of all platforms, and the one table schema of posts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klda.posts.read_report import BadRecord, ReadReport
    from klda.posts.reader import PostReader, read_posts

# Loaded on first use: commands check their arguments before they load the table libraries.
_HOME = {
    "BadRecord": "klda.posts.read_report",
    "PostReader": "klda.posts.reader",
    "ReadReport": "klda.posts.read_report",
    "read_posts": "klda.posts.reader",
}

__all__ = ["BadRecord", "PostReader", "ReadReport", "read_posts"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'klda.posts' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
