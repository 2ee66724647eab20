"""Files of posts as tests write and read them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from klda.posts import PostReader, read_posts

GOOD = '{"id": "%d", "time": "2026-01-05T10:00:00Z", "text": "post number %d", "author": "anna"}\n'


START = datetime(2026, 1, 5, tzinfo=UTC)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, **options: object) -> PostReader:
    """A reader that has read everything."""
    reader = read_posts(path, **options)  # type: ignore[arg-type]
    posts = list(reader)
    assert reader.report.lines == reader.report.accounted
    assert reader.report.posts == len(posts)
    return reader


def good(count: int, start: int = 0) -> str:
    return "".join(GOOD % (i, i) for i in range(start, start + count))
