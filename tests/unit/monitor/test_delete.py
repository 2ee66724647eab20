"""The end of a monitor: nothing of it is left, and nothing of others is touched."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from klda.errors import InputError, StoreError
from klda.monitor.collect import collect
from klda.monitor.create import create
from klda.monitor.forget import delete
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.propose import propose
from klda.store import Records, list_monitors
from tests.unit.monitor.conftest import Make, weeks


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
    with pytest.raises(InputError, match="has a monitor 'health' already"), make(storage=storage):
        pass


def test_a_monitor_that_collects_is_not_deleted(monitor: Monitor) -> None:
    with monitor.folder.writer(), pytest.raises(StoreError):
        delete(monitor, deleted_by="ann")
    assert monitor.folder.settings.exists()
