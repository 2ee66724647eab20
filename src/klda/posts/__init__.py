"""Where posts come from: files of every platform's format."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klda.posts.read_report import BadRecord, ReadReport
    from klda.posts.reader import PostReader, read_posts

# Loaded on first use: commands say what is wrong with their arguments before the libraries of tables are there.
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
