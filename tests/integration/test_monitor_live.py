"""A monitor on a stream that is live: windows end by the clock, and the filter changes while posts come in."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from klda.errors import StoreError
from klda.monitor.calendar import closed
from klda.monitor.collect import Collector
from klda.monitor.create import create
from klda.monitor.decide import edit
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.run import AGAIN, run
from klda.streams.jetstream import Jetstream
from klda.types import KeywordSet
from tests.integration.taking import posts
from tests.servers.jetstream import JetstreamServer, deletion, frames_of

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
WORDS = ["ward", "nurse", "patient", "visit", "bed", "night", "shift", "drug", "test", "queue"]


class Clock:
    def __init__(self) -> None:
        self.time = MONDAY + DAY / 2

    def __call__(self) -> datetime:
        return self.time


def drop(folder: Path, name: str, day: float, texts: list[str]) -> None:
    """Puts a finished file of posts into a folder."""
    lines = [
        json.dumps({"id": f"{name}-{n}", "time": (MONDAY + (day + n / 1000) * DAY).isoformat(), "text": text})
        for n, text in enumerate(texts)
    ]
    (folder / f"{name}.part").write_text("\n".join(lines) + "\n")
    (folder / f"{name}.part").rename(folder / f"{name}.jsonl")


def hospital(n: int) -> list[str]:
    return [f"hospital {WORDS[i % 10]} {WORDS[(3 * i) % 7]} redlung" for i in range(n)]


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.02)
    pytest.fail("it did not come about within a minute")


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def made(tmp_path: Path, inbox: Path, clock: Clock) -> Path:
    settings = MonitorSettings.of(
        {
            "subject": "health",
            "keywords": ["hospital"],
            "window": "1d",
            "policy": "static",
            "source": {"kind": "folder", "path": str(inbox), "every": 0.02, "settle": 0.0},
        }
    )
    create(tmp_path / "home", "health", settings, created_by="ann", clock=clock)
    return tmp_path / "home"


def stored(monitor: Monitor) -> set[str]:
    return {name for batch in monitor.posts().read().batches() for name in batch.column("id").to_pylist()}


@pytest.mark.parametrize("before", [None, "jetstream old.example.org"])
def test_on_another_server_of_the_network_collecting_goes_on_where_it_was(tmp_path: Path, before: str | None) -> None:
    stream = posts(30, lambda i: f"hospital {i}")
    frames = frames_of(stream)
    gone = (frames[-1][0] - 1, deletion("did:plc:anna", "3", frames[-1][0] - 1))
    first, second = JetstreamServer(frames[:10]), JetstreamServer([*frames[:-1], gone, frames[-1]])

    async def collected(server: JetstreamServer, host: str, posts: int, name: str | None = None) -> list[int]:
        async with server.running():
            source = Jetstream(server.url.replace("127.0.0.1", host), step_back=0.2)
            source.name = name or source.name
            with opened(tmp_path / "home", "health") as monitor:
                stop = asyncio.Event()
                collector = Collector(monitor, source)
                running = asyncio.ensure_future(collector.run(stop))
                await until(lambda: collector.counts.received == posts)
                stop.set()
                await running
                return sorted(int(post.id.rpartition("/")[2]) for post in monitor.posts().read().table())

    settings = {"subject": "health", "keywords": ["hospital"], "source": "jetstream", "sample": 0}
    create(tmp_path / "home", "health", MonitorSettings.of(settings), created_by="ann")
    assert asyncio.run(collected(first, "127.0.0.1", 10, before)) == list(range(10))
    assert asyncio.run(collected(second, "localhost", 23)) == [i for i in range(30) if i != 3]
    assert second.connections[0].cursor == frames[7][0]


def test_windows_end_by_the_clock_and_an_approved_list_is_followed_while_posts_come_in(
    tmp_path: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.05)
    monkeypatch.setattr("klda.monitor.collect.SECONDS", 0.1)
    clock = Clock()
    home = made(tmp_path, inbox, clock)

    async def week(monitor: Monitor, stop: asyncio.Event) -> None:
        drop(inbox, "first", 0.6, hospital(20))
        await until(lambda: len(stored(monitor)) == 20)
        assert closed(monitor) == []
        clock.time = MONDAY + 1.5 * DAY
        await until(lambda: len(closed(monitor)) == 1)
        drop(inbox, "second", 1.6, [*hospital(20), "a ward too early"])
        drop(inbox, "late", 0.9, hospital(1))
        await until(lambda: len(stored(monitor)) == 41)
        clock.time = MONDAY + 2.1 * DAY
        await until(lambda: monitor.records.proposals.waiting() is not None)
        edit(monitor, KeywordSet.of("hospital", "ward"), decided_by="ann")
        await until(lambda: bool(monitor.records.journal.entries(action="filter")))
        drop(inbox, "third", 2.6, ["a ward at last", "nothing of note"])
        await until(lambda: "third-0" in stored(monitor))
        stop.set()

    async def both(monitor: Monitor) -> None:
        stop = asyncio.Event()
        await asyncio.gather(run(monitor, stop), week(monitor, stop))

    with opened(home, "health", clock=clock) as monitor:
        asyncio.run(both(monitor))
        assert {str(size.window): size.posts for size in monitor.posts().windows()} == {
            "2026-01-05": 21,
            "2026-01-06": 20,
            "2026-01-07": 1,
        }
        [span] = monitor.records.keywords.spans("ward")
        assert span.started == clock.time
        assert not monitor.folder.being_written


@pytest.mark.parametrize("error", [RuntimeError("no kernel"), MemoryError(), StoreError("the database is away")])
def test_a_proposal_that_crashes_does_not_end_collecting_and_is_made_later(
    tmp_path: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("klda.monitor.collect.SECONDS", 0.1)
    clock, told = Clock(), list[str]()
    home = made(tmp_path, inbox, clock)

    def crash(*_: object, **__: object) -> None:
        raise error

    async def day(monitor: Monitor, stop: asyncio.Event) -> None:
        drop(inbox, "first", 0.6, hospital(20))
        await until(lambda: len(stored(monitor)) == 20)
        drop(inbox, "second", 1.2, hospital(20))
        await until(lambda: len(stored(monitor)) == 40)
        with monkeypatch.context() as crashing:
            crashing.setattr("klda.monitor.run.propose", crash)
            clock.time = MONDAY + 2.1 * DAY
            await until(lambda: bool(monitor.records.journal.entries(action="turn failed")))
        [entry] = monitor.records.journal.entries(action="turn failed")
        assert entry.detail["reason"] == (str(error) or "MemoryError")
        drop(inbox, "third", 2.2, hospital(20))
        await until(lambda: len(stored(monitor)) == 60)
        assert monitor.records.proposals.waiting() is None
        clock.time += AGAIN
        await until(lambda: monitor.records.proposals.waiting() is not None)
        stop.set()

    async def both(monitor: Monitor) -> None:
        stop = asyncio.Event()
        await asyncio.gather(run(monitor, stop, tell=told.append), day(monitor, stop))

    with opened(home, "health", clock=clock) as monitor:
        asyncio.run(both(monitor))
    assert f"no proposal; the next attempt is at 2026-01-07 03:24: {str(error) or 'MemoryError'}" in told


def test_ctrl_c_stores_what_came_and_the_next_run_goes_on(tmp_path: Path, inbox: Path) -> None:
    home = made(tmp_path, inbox, Clock())
    drop(inbox, "first", 0.6, hospital(30))
    command = [sys.executable, "-m", "klda", "monitor", "collect", "health", "--home", str(home), "--format", "json"]

    def interrupted_after(posts: int) -> dict[str, int]:
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process, opened(home, "health") as monitor:
            asyncio.run(until(lambda: monitor.records.volume.total() >= posts))
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate()
            assert process.returncode == 0
            result: dict[str, int] = json.loads(output)
            return result

    assert interrupted_after(30)["stored"] == 30
    drop(inbox, "second", 0.7, hospital(5))
    assert interrupted_after(35)["stored"] == 5
