"""What leaves the store is read back by `read_posts` as the same posts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from klda.posts import read_posts
from klda.posts.schema import to_batch
from klda.store import PostStore, export
from klda.text.windows import Windowing
from klda.types import Post

MONDAY = datetime(2026, 1, 5, 12, 30, tzinfo=UTC)

POSTS = [
    Post(
        id="at://did:plc:a/app.bsky.feed.post/1",
        time=MONDAY + timedelta(microseconds=123_456),
        text='line\nbreak, "quotes", 😷 and =SUM(A1)',
        author="did:plc:a",
        language="en",
        hashtags=("mask", "Covid19"),
        reposts=1,
        likes=2,
        replies=3,
        quotes=4,
        followers=5,
        following=6,
        author_posts=7,
        author_likes=8,
        label="virus",
    ),
    Post(id="2", time=MONDAY + timedelta(days=1), text="plain"),
    Post(id="3", time=MONDAY + timedelta(days=2), text="passed on", repost_of="2", author="b"),
    Post(id="4", time=MONDAY + timedelta(weeks=1), text="next week"),
]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_an_exported_window_is_read_back_as_it_was(tmp_path: Path, ending: str) -> None:
    store = PostStore(tmp_path / "posts", Windowing())
    store.append(to_batch(POSTS), [["m"]] * 4, source="s", batch=1, cursor="1")
    window = store.windows()[0].window
    assert export(store.read(window), tmp_path / f"week.{ending}") == 3
    reader = read_posts(tmp_path / f"week.{ending}", strict=True)
    assert sorted(reader, key=lambda post: post.time) == POSTS[:3]
