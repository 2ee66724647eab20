"""A small monitor on a file of posts: two subjects, four weeks, words that come and go as each test needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from klda.monitor.calendar import close
from klda.monitor.collect import Collector, Counts, collect
from klda.monitor.create import create
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.propose import propose
from klda.posts.formats.outcome import Row
from klda.simulation import World, write
from klda.streams import Burst, Event, Health, Received
from klda.types import KeywordSet

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)
WORDS = ["ward", "nurse", "patient", "visit", "bed", "night", "shift", "drug", "test", "queue"]

Make = Callable[..., AbstractContextManager[Monitor]]


def row(name: str, text: str = "the hospital", *, week: float = 0.0, author: str | None = None, **more: Any) -> Row:
    time = MONDAY + week * WEEK
    return Row(name, int(time.timestamp() * 1_000_000), text, author or f"author of {name}", **more)


def write_posts(path: Path, rows: Iterable[Row]) -> Path:
    """The rows as JSON lines that a replay reads."""
    with path.open("wb") as file:
        for one in rows:
            time = datetime.fromtimestamp(one.time / 1e6, UTC).isoformat()
            plain = {"id": one.id, "time": time, "text": one.text, "author": one.author}
            file.write(orjson.dumps(plain, option=orjson.OPT_APPEND_NEWLINE))
    return path


def weeks(n: int, posts: int = 40) -> list[Row]:
    """Posts of so many weeks; from the second on, `redlung` comes up beside `hospital`."""
    return [
        row(
            f"{week}-{i}",
            f"the hospital {WORDS[i % 10]} {WORDS[(3 * i) % 7]}{' redlung' if week and i % 2 else ''}",
            week=week + i / (posts + 1),
        )
        for week in range(n)
        for i in range(posts)
    ]


class Scripted:
    """A source that hands out bursts as a test wrote them, and then ends."""

    replayable = True
    unfiltered = True
    name = "scripted"

    def __init__(self, *bursts: Sequence[Event]) -> None:
        self.health = Health()
        self.keywords: list[KeywordSet] = []
        self._bursts = bursts

    async def update_keywords(self, keywords: KeywordSet) -> None:
        self.keywords.append(keywords)

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        for number in range(int(cursor or 0), len(self._bursts)):
            yield Burst(tuple(self._bursts[number]), str(number + 1))
            await asyncio.sleep(0)


def received(*rows: Row) -> list[Event]:
    return [Received(one) for one in rows]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of four weeks of posts."""
    path = tmp_path_factory.mktemp("world") / "posts.parquet"
    write(World(weeks=4, posts_per_week=500), path)
    return path


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a monitor on a file of posts, with settings as given, and opens it."""

    def make_one(
        rows: Iterable[Row] = (row("first"),), clock: Callable[[], datetime] | None = None, **settings: Any
    ) -> AbstractContextManager[Monitor]:
        file = write_posts(tmp_path / "posts.jsonl", rows)
        values = {"subject": "health", "keywords": ["hospital", "doctor"], "source": f"replay:{file}"}
        create(tmp_path / "home", "health", MonitorSettings.of(values | settings), created_by="ann")
        return opened(tmp_path / "home", "health", **({} if clock is None else {"clock": clock}))

    return make_one


@pytest.fixture
def monitor(make: Make) -> Iterator[Monitor]:
    with make() as made:
        yield made


@pytest.fixture
def collected(make: Make) -> Iterator[Monitor]:
    """A monitor with three weeks of posts."""
    with make(weeks(3), policy_settings={"iterations": 5, "n_topics": 2}, budget={"max_keywords": 4}) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        yield monitor


@pytest.fixture
def proposed(collected: Monitor) -> Monitor:
    close(collected)
    propose(collected)
    return collected


def gathered(monitor: Monitor, source: Scripted) -> Counts:
    return asyncio.run(Collector(monitor, source).run(asyncio.Event()))


def stored(monitor: Monitor, *, sample: bool = False) -> list[str]:
    posts = monitor.posts().read(sample=sample)
    return sorted(name for batch in posts.batches() for name in batch.column("id").to_pylist())
