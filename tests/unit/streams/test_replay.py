"""An archive as a source: all of it, in order, from anywhere, at its own pace or none."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.posts.schema import PostTable
from klda.simulation import World, write
from klda.streams.protocol import Burst, Received
from klda.streams.replay import Place, Replay
from klda.types import Post

WORLD = World(weeks=1, posts_per_week=2500)
POSTS = list(WORLD.posts())


def bursts_of(replay: Replay, cursor: str | None = None, limit: int | None = None) -> list[Burst]:
    async def take() -> list[Burst]:
        taken: list[Burst] = []
        async with aclosing(replay.bursts(cursor)) as bursts:
            async for burst in bursts:
                taken.append(burst)
                if len(taken) == limit:
                    break
        return taken

    return asyncio.run(take())


def posts_of(bursts: list[Burst]) -> list[Post]:
    return [event.post for burst in bursts for event in burst.events if isinstance(event, Received)]


def test_a_replay_brings_every_post_as_it_was_and_ends() -> None:
    assert posts_of(bursts_of(Replay(WORLD))) == POSTS


def test_an_archive_on_disk_is_replayed_like_the_world_it_was_written_from(tmp_path: Path) -> None:
    path = write(WORLD, tmp_path / "archive.parquet")
    assert [post.id for post in posts_of(bursts_of(Replay(path)))] == [post.id for post in POSTS]


@settings(max_examples=20)
@given(st.integers(0, 2600))
def test_a_replay_goes_on_exactly_where_its_cursor_says(at: int) -> None:
    table = PostTable.of(POSTS)
    assert posts_of(bursts_of(Replay(table), str(at))) == POSTS[at:]


def test_the_cursor_of_a_burst_continues_after_it() -> None:
    before = bursts_of(Replay(WORLD), limit=1)
    assert posts_of(before) + posts_of(bursts_of(Replay(WORLD), before[-1].cursor)) == POSTS


def test_at_a_speed_posts_come_when_they_are_due(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    few = POSTS[:20]
    replay = Replay(PostTable.of(few), speed=60)
    came: list[float] = []

    async def test() -> None:
        nonlocal now
        async for burst in replay.bursts():
            came.extend([now] * len(burst.events))
            now += 0.01  # storing them takes its time too

    monkeypatch.setattr("klda.streams.replay.time.monotonic", lambda: now)
    monkeypatch.setattr("klda.streams.replay.asyncio.sleep", sleep)
    test_run = test()
    with pytest.raises(StopIteration):
        test_run.send(None)
    due = [(post.time - few[0].time).total_seconds() / 60 for post in few]
    assert came == pytest.approx(due, abs=0.011)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingError, match="speed"):
        Replay(WORLD, speed=-1)
    with pytest.raises(SettingError, match="cursor"):
        bursts_of(Replay(WORLD), "half-way")


def test_the_cursor_of_another_archive_skips_nothing() -> None:
    last = bursts_of(Replay(WORLD))[-1].cursor
    other = PostTable.of(replace(post, id=f"other {post.id}") for post in POSTS)
    assert len(posts_of(bursts_of(Replay(other), last))) == len(POSTS)
    assert bursts_of(Replay(WORLD), last) == []


@given(st.integers(0), st.text())
def test_a_place_is_the_same_when_it_is_read_back(passed: int, first: str) -> None:
    assert Place.of(str(Place(passed, first))) == Place(passed, first)


def test_dates_of_a_spreadsheet_are_replayed_in_the_stated_format_and_zone(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("id,time,text\n1,05/01/2026 10:00,health\n")
    replay = Replay(path, timezone="Europe/Berlin", date_format="%d/%m/%Y %H:%M")
    [post] = posts_of(bursts_of(replay))
    assert post.time == datetime(2026, 1, 5, 9, tzinfo=UTC)
