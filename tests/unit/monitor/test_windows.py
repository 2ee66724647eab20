"""When windows close, and a turn of the loop that follows; what is exported and what expires."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest

from klda.errors import DataError, InputError, SettingError
from klda.monitor.calendar import close, closed
from klda.monitor.collect import Collector, collect
from klda.monitor.export import export, window_at
from klda.monitor.forget import vacuum
from klda.monitor.monitor import Monitor
from klda.monitor.overview import flow, now
from klda.monitor.propose import propose
from klda.monitor.run import turn
from klda.monitor.window_topics import learn_topics
from klda.posts import read_posts
from klda.store.monitor_folders import only_writer
from klda.streams import Burst
from klda.streams.replay import Replay
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, Scripted, received, row, weeks, write_posts


def after(monitor: Monitor, length: timedelta) -> Monitor:
    """The monitor, so much later."""
    later = monitor.clock() + length
    return replace(monitor, clock=lambda: later)


def test_windows_close_at_their_end_and_once(collected: Monitor) -> None:
    assert close(collected, MONDAY + WEEK - timedelta(microseconds=1)) == []
    assert [str(window) for window in close(collected, MONDAY + WEEK)] == ["2026-01-05"]
    assert close(collected, MONDAY + WEEK) == []
    assert len(close(collected)) == 2
    assert [str(window) for window in closed(collected)] == ["2026-01-05", "2026-01-12", "2026-01-19"]
    entries = collected.records.journal.entries(action="close")
    assert [entry.detail["posts"] for entry in entries] == [40, 40, 40]


def test_a_late_post_lands_in_a_window_that_has_closed(collected: Monitor) -> None:
    close(collected)
    asyncio.run(Collector(collected, Scripted(received(row("late")))).run(asyncio.Event()))
    assert collected.posts().windows()[0].posts == 41
    assert close(collected) == []


def test_windows_from_before_the_monitor_began_do_not_count(collected: Monitor) -> None:
    asyncio.run(Collector(collected, Scripted(received(row("ancient", week=-200)))).run(asyncio.Event()))
    assert [str(window) for window in close(collected)] == ["2026-01-05", "2026-01-12", "2026-01-19"]
    assert propose(collected).proposal.window == "2026-01-26T00:00:00+00:00"


def test_a_window_that_a_replay_is_in_is_not_closed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = asyncio.Event()

    class Stopping(Scripted):
        async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
            async for burst in super().bursts(cursor):
                yield burst
            stop.set()
            await asyncio.sleep(60)

    with make(weeks(3), policy="counting") as monitor:
        monkeypatch.setattr(Monitor, "source", lambda _: Stopping(received(*weeks(3)[:61])))
        asyncio.run(collect(monitor, stop))
        assert [size.posts for size in monitor.posts().windows()] == [40, 20]
        assert [str(window) for window in close(monitor)] == ["2026-01-05"]


def test_a_turn_closes_proposes_and_is_done_once(collected: Monitor) -> None:
    told: list[str] = []
    turn(collected, MONDAY + WEEK, tell=told.append)
    assert told[0] == "window 2026-01-05 closed"
    assert told[1] == "no proposal yet: the first one needs two closed windows"
    assert not any(job.kind == "propose" for job in collected.records.jobs.newest())  # so that none is shown as failed
    turn(collected, MONDAY + 2 * WEEK, tell=told.append)
    assert len(collected.records.proposals.newest()) == 1
    n = len(told)
    turn(collected, MONDAY + 2 * WEEK, tell=told.append)
    assert len(told) == n


def test_a_turn_that_was_interrupted_after_closing_proposes_when_it_is_taken_again(collected: Monitor) -> None:
    close(collected, MONDAY + 2 * WEEK)
    turn(collected, MONDAY + 2 * WEEK)
    assert collected.records.proposals.waiting() is not None


def test_an_exported_window_is_read_back(collected: Monitor, tmp_path: Path) -> None:
    window = window_at(collected, "2026-01-14")
    assert export(collected, tmp_path / "week.jsonl", window) == 40
    assert len(list(read_posts(tmp_path / "week.jsonl"))) == 40
    assert export(collected, tmp_path / "all.parquet") == 120
    with pytest.raises(DataError, match="has no posts of 2019-12-30"):
        export(collected, tmp_path / "none.jsonl", window_at(collected, "2020-01-01"))
    with pytest.raises(SettingError, match="'soon' is not a day"):
        window_at(collected, "soon")


def test_old_windows_go_with_the_examples_that_show_them(proposed: Monitor) -> None:
    saved = proposed.records.proposals.waiting()
    assert saved is not None
    assert any(reason.examples for reason in saved.proposal.reasons)
    later = after(proposed, 2 * WEEK)
    assert [str(window) for window in vacuum(later, "21d").windows] == ["2026-01-05", "2026-01-12"]
    assert [str(size.window) for size in later.posts().windows()] == ["2026-01-19"]
    assert any(reason.examples for reason in later.records.proposals.get(saved.id).proposal.reasons)
    vacuum(later, "14d")
    assert not any(reason.examples for reason in later.records.proposals.get(saved.id).proposal.reasons)
    assert later.records.volume.total() == 120, "posts that expire stay counted"


def test_a_replay_forgets_by_its_own_calendar(make: Make) -> None:
    seconds, years_later = count(), MONDAY + 200 * WEEK
    with make(weeks(3), clock=lambda: years_later + timedelta(seconds=next(seconds)), retention="7d") as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        assert [str(size.window) for size in monitor.posts().windows()] == ["2026-01-12", "2026-01-19"]
        assert [str(window) for window in vacuum(monitor).windows] == ["2026-01-12"], "the last week is over by now"


def test_what_a_replay_left_grows_old_with_the_clock(collected: Monitor) -> None:
    assert vacuum(after(collected, 5 * WEEK), "50d").windows == ()
    assert len(vacuum(after(collected, 8 * WEEK), "50d").windows) == 3
    assert collected.posts().windows() == []


def test_nothing_expires_unless_the_settings_say_so(collected: Monitor) -> None:
    assert vacuum(collected).windows == ()


def test_examples_of_old_windows_go_after_a_crash_too(proposed: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("klda.monitor.forget._withdraw", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            vacuum(after(proposed, WEEK), "1d")
    assert proposed.posts().windows() == []
    vacuum(after(proposed, WEEK), "1d")
    [saved] = proposed.records.proposals.newest()
    assert not any(reason.examples for reason in saved.proposal.reasons)


def test_posts_that_a_killed_backtest_left_behind_go(proposed: Monitor) -> None:
    left = proposed.folder.path / "backtests" / ".0123456789abcdef" / "archive"
    left.mkdir(parents=True)
    (left / "posts.arrow").write_bytes(b"somebody's post")
    lock = proposed.folder.path / "jobs" / "0123456789abcdef.lock"
    with only_writer(lock):
        vacuum(proposed)
        assert left.exists(), "a backtest that runs keeps what it reads"
    vacuum(proposed)
    assert not left.parent.exists()


def test_a_post_from_the_future_is_stored_and_is_not_the_newest_window(make: Make) -> None:
    seconds = count()
    later = MONDAY + 2 * WEEK
    posts = [*weeks(2), row("wrong", week=5000)]
    with make(posts, clock=lambda: later + timedelta(seconds=next(seconds))) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        assert now(monitor).total == 81
        assert now(monitor).window == monitor.windowing.holding(MONDAY + WEEK)
        assert {point.start for point in flow(monitor, "window")} == {MONDAY, MONDAY + WEEK}
        assert learn_topics(monitor).windows[-1] == MONDAY + WEEK


def test_a_monitor_does_not_inherit_the_records_of_one_that_is_gone(make: Make, tmp_path: Path) -> None:
    shared = {"storage": {"database": f"sqlite:///{tmp_path}/shared.db"}}
    with make(**shared) as monitor:
        folder = monitor.folder.path
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="the database already has a monitor 'health'"), make(**shared):
        pass
    assert not folder.exists()


def test_an_archive_under_a_new_address_is_collected_from_its_start(make: Make, tmp_path: Path) -> None:
    with make(weeks(1)) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        other = write_posts(tmp_path / "other.jsonl", [row(f"new {i}", week=1) for i in range(50)])
        source = Replay(str(other))
        asyncio.run(Collector(monitor, source).run(asyncio.Event()))
        assert [size.posts for size in monitor.posts().windows()] == [40, 50]
