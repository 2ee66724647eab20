"""What is deleted, at its source or here, leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klda.cli.app import app
from klda.errors import InputError, StoreError
from klda.monitor.calendar import close
from klda.monitor.collect import Collector, collect
from klda.monitor.create import create
from klda.monitor.forget import delete, vacuum, withdraw_reports
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.propose import propose
from klda.store import Records, list_monitors
from klda.streams import Deleted, Event
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, Scripted, received, row, weeks


def test_nothing_is_left_of_a_monitor_and_others_are_as_they_were(make: Make, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/shared.db"
    storage = {"database": database, "posts": str(tmp_path / "elsewhere")}
    home = tmp_path / "home"
    other = {"subject": "x", "keywords": ["x"], "source": "jetstream", "storage": {"database": database}}
    create(home, "other", MonitorSettings.of(other), created_by="ann")
    with make(weeks(3), policy="counting", storage=storage) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        propose(monitor)
        assert len(monitor.posts().read()) == 120
        delete(monitor, deleted_by="ann")
    assert [one.name for one in list_monitors(home)] == ["other"]
    assert not [path for path in home.iterdir() if "health" in path.name]
    assert not [path for path in (tmp_path / "elsewhere").rglob("*.parquet") if "_delta_log" not in path.parts]
    left = Records(database, "health")
    assert (left.proposals.newest(), left.keywords.spans(), left.volume.total()) == ([], [], 0)
    assert left.journal.entries()[0].action == "delete"
    left.close()
    with opened(home, "other") as kept:
        assert kept.records.keywords.active().texts == ("x",)
    with pytest.raises(InputError, match="already has a monitor 'health'"), make(storage=storage):
        pass


def test_a_monitor_that_collects_is_not_deleted(monitor: Monitor) -> None:
    with monitor.folder.writer(), pytest.raises(StoreError):
        delete(monitor, deleted_by="ann")
    assert monitor.folder.settings.exists()


WORDS = ["ward", "nurse", "patient", "visit", "night", "shift", "drug"]


def received_by(monitor: Monitor, *bursts: list[Event]) -> None:
    asyncio.run(Collector(monitor, Scripted(*bursts)).run(asyncio.Event()))


def reported(monitor: Monitor) -> str:
    """The text of the report on the proposal that waits, written by the command."""
    arguments = ["monitor", "report", monitor.name, "--home", str(monitor.folder.path.parent), "--format", "json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    [path] = (monitor.folder.path / "reports").iterdir()
    return path.read_text()


def test_a_post_deleted_at_its_source_leaves_table_history_proposals_and_reports(
    make: Callable[..., AbstractContextManager[Monitor]],
) -> None:
    rows = [
        row(f"{week}-{n}", f"hospital {WORDS[n % 7]} {WORDS[n % 5]} whisper{week}x{n}", week=week + n / 100)
        for week in (0, 1)
        for n in range(40)
    ]
    with make(policy="cooccurrence", sample=0.0) as monitor:
        received_by(monitor, received(*rows))
        close(monitor, MONDAY + 2 * WEEK)
        saved = propose(monitor)
        shown = [example for reason in saved.proposal.reasons for example in reason.examples]
        page = reported(monitor)
        gone = next(example for example in shown if example.text.split()[-1] in page)
        word = gone.text.split()[-1]
        assert withdraw_reports(monitor) == 0, "nothing has changed yet"

        received_by(monitor, received(*rows), [Deleted(gone.id)])
        assert list((monitor.folder.path / "reports").iterdir()) == []
        page = reported(monitor)
        assert word not in page
        vacuum(monitor, grace=timedelta(0))
        for file in monitor.folder.path.rglob("*"):
            if file.is_file() and file.suffix != ".parquet" and file.name != "lock":
                assert word.encode() not in file.read_bytes(), file
        posts = monitor.posts()
        assert gone.id not in {name for batch in posts.read().batches() for name in batch.column("id").to_pylist()}
        assert len(list(Path(posts.uri).glob("window=*/*/*.parquet"))) == len(posts.windows()), "no older file is left"
