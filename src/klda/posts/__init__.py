"""Where posts come from: files of every platform's format."""

from __future__ import annotations

from klda.posts.reader import PostReader, read_posts
from klda.posts.report import BadRecord, ReadReport

__all__ = ["BadRecord", "PostReader", "ReadReport", "read_posts"]
