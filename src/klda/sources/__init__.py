"""Where posts come from: files of every platform's format."""

from __future__ import annotations

from klda.sources.reader import PostReader, read_posts
from klda.sources.report import BadRecord, ReadReport

__all__ = ["BadRecord", "PostReader", "ReadReport", "read_posts"]
