from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from klda.monitor.create import create
from klda.monitor.settings import Settings
from klda.web import running
from tests.unit.web.conftest import Browser


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def test_a_monitor_is_started_and_stopped_from_its_page(browse: Callable[..., Browser], tmp_path: Path) -> None:
    browser = browse()
    (tmp_path / "inbox").mkdir()
    values = {"subject": "flu", "keywords": ["flu"], "source": f"folder:{tmp_path / 'inbox'}"}
    create(tmp_path / "home", "flu", Settings.of(values), created_by="ann")
    monitor = browser.app.state.studio.monitor("flu")
    assert "Start collecting" in browser.get("/monitors/flu").text
    assert browser.post("/monitors/flu/run").status_code == 303
    wait_until(lambda: any(job.kind == "collect" and job.state == "running" for job in monitor.records.jobs.newest()))
    assert "Stop collecting" in browser.get("/monitors/flu").text
    assert browser.post("/monitors/flu/run").status_code == 409
    assert browser.post("/monitors/flu/stop").status_code == 303
    wait_until(lambda: not monitor.folder.being_written)
    wait_until(lambda: all(process.poll() is not None for process in running._started))
    actions = [(entry.who, entry.action) for entry in monitor.records.journal.entries()]
    assert ("ann", "run") in actions
    assert ("ann", "cancel") in actions
