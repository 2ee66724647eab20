"""A monitor that nobody looks after: eleven simulated weeks, a death in the middle, a database that is restarted."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from klda.monitor.calendar import closed
from klda.monitor.create import create
from klda.monitor.decide import AUTOMATIC
from klda.monitor.history import history
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.run import run
from klda.simulation import World, write
from klda.types import KeywordSet
from tests.unit.store import postgres

HEALTH = ["health", "hospital", "doctor", "medicine"]


def made(home: Path, posts: Path, **settings: object) -> Path:
    """A home with one monitor that replays these posts and approves what is not flagged."""
    values = {"subject": "health", "keywords": HEALTH, "source": f"replay:{posts}", "approval": "auto", "sample": 0.2}
    create(home, "health", MonitorSettings.of(values | settings), created_by="test")
    return home


def stored(monitor: Monitor) -> dict[str, set[tuple[str, ...]]]:
    """Of each window, the ids of its posts with the keywords that they were collected for."""
    found = {}
    for size in monitor.posts().windows():
        rows = [row for batch in monitor.posts().read(size.window).rows() for row in batch.to_pylist()]
        assert len({row["id"] for row in rows}) == len(rows), "no post is there twice"
        found[str(size.window)] = {(row["id"], *sorted(row["keywords"])) for row in rows}
    return found


def finished(home: Path, tell: Callable[[str], None] = lambda _: None) -> dict[str, set[tuple[str, ...]]]:
    """Runs the monitor to the end of its replay, and returns what it stored."""
    with opened(home, "health") as monitor:
        counts = asyncio.run(run(monitor, asyncio.Event(), tell=tell))
        assert counts.ended
        return stored(monitor)


@pytest.mark.slow
def test_eleven_unattended_weeks_end_with_words_of_the_story_that_broke(tmp_path: Path) -> None:
    world = World(weeks=11, posts_per_week=2000, seed=1)
    home = made(
        tmp_path / "home",
        write(world, tmp_path / "world.parquet"),
        budget={"max_keywords": 15},
        policy_settings={"iterations": 60},
    )
    finished(home)
    with opened(home, "health") as monitor:
        assert len(closed(monitor)) == 11
        proposals = monitor.records.proposals.newest()
        assert len(proposals) == 10, "the first window has nothing to be compared with"
        for saved in proposals:
            assert (saved.state == "approved") == (not saved.flags), "what is flagged waits for a person"
        active = monitor.records.keywords.active()
        assert set(active.texts) & set(world.emerging.words)
        for story in history(monitor):
            assert all(span.reason and span.decided_by in ("test", AUTOMATIC) for span in story.spans)
            if story.keyword in active and story.spans[-1].proposal is not None:
                assert story.outcomes


@pytest.fixture(scope="module")
def five_weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = World(weeks=5, posts_per_week=800, seed=3, emergence=1)
    return write(world, tmp_path_factory.mktemp("world") / "world.parquet")


# With these sources the list changes on the way, which these tests are about.
QUICK = {
    "policy": "counting",
    "budget": {"max_keywords": 8},
    "candidates": {"sources": ["history", "viral", "nouns", "rising", "sample"]},
}


@pytest.fixture(scope="module")
def undisturbed(five_weeks: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[tuple[str, ...]]]:
    """What is stored when nothing happens; more than one list was used on the way."""
    home = made(tmp_path_factory.mktemp("quiet") / "home", five_weeks, **QUICK)
    found = finished(home)
    with opened(home, "health") as monitor:
        assert len({span.started for span in monitor.records.keywords.spans()}) > 1
    return found


@pytest.mark.parametrize(("number", "windows"), [(signal.SIGKILL, 1), (signal.SIGTERM, 3)])
def test_a_run_that_is_ended_in_the_middle_stores_the_same_posts_when_it_is_started_again(
    number: signal.Signals,
    windows: int,
    five_weeks: Path,
    undisturbed: dict[str, set[tuple[str, ...]]],
    tmp_path: Path,
) -> None:
    home = made(tmp_path / "home", five_weeks, **QUICK)
    command = [sys.executable, "-m", "klda", "monitor", "run", "health", "--home", str(home), "--format", "json"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
        opened(home, "health") as monitor,
    ):
        while len(closed(monitor)) < windows and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(number)
        output, _ = process.communicate()
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    if number == signal.SIGTERM:
        assert not json.loads(output)["ended"]
    assert finished(home) == undisturbed


server = pytest.fixture(postgres.running)


def test_a_database_that_is_restarted_in_the_middle_costs_nothing(
    server: postgres.Server, five_weeks: Path, undisturbed: dict[str, set[tuple[str, ...]]], tmp_path: Path
) -> None:
    home = made(tmp_path / "home", five_weeks, storage={"database": server.address}, **QUICK)
    restarts: list[Thread] = []

    def restart(message: str) -> None:
        if message in ("window 2026-01-12 closed", "window 2026-01-26 closed"):
            server.stop("immediate")
            restarts.append(Thread(target=server.start))
            restarts[-1].start()

    assert finished(home, restart) == undisturbed
    assert len(restarts) == 2
    for thread in restarts:
        thread.join()
    with opened(home, "health") as monitor:
        assert len(closed(monitor)) == 5
        assert monitor.records.volume.total() == sum(map(len, undisturbed.values()))
        assert not (home / "health" / "state.db").exists()


def test_a_person_who_has_to_approve_is_waited_for(five_weeks: Path, tmp_path: Path) -> None:
    home = made(tmp_path / "home", five_weeks, approval="manual", **QUICK)
    wanted = KeywordSet.of("health", "redlung")

    async def decide(monitor: Monitor, stop: asyncio.Event) -> None:
        while (waiting := monitor.records.proposals.waiting()) is None:
            await asyncio.sleep(0.05)
        from klda.monitor.decide import edit

        windows = len(closed(monitor))
        await asyncio.sleep(1.0)
        assert len(closed(monitor)) == windows, "the replay stands still"
        edit(monitor, wanted, waiting.id, decided_by="ann")
        while monitor.records.proposals.waiting() is None:
            await asyncio.sleep(0.05)
        stop.set()

    async def both(monitor: Monitor) -> None:
        stop = asyncio.Event()
        await asyncio.gather(run(monitor, stop), decide(monitor, stop))

    with opened(home, "health") as monitor:
        asyncio.run(both(monitor))
        third = sorted(stored(monitor))[2]
        assert {keyword for _, *keywords in stored(monitor)[third] for keyword in keywords} == {"health", "redlung"}
