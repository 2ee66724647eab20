from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import anyio

from klda.monitor.create import create
from klda.monitor.monitor_settings import MonitorSettings
from klda.store import MonitorFolder
from klda.web.actions import _started
from klda.web.counts import Live
from tests.unit.web.conftest import Browser


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def test_collecting_that_fails_says_why_until_it_is_begun_again(browse: Callable[..., Browser], tmp_path: Path) -> None:
    browser, inbox = browse(), tmp_path / "inbox"
    inbox.mkdir()
    values = {"subject": "flu", "keywords": ["flu"], "source": f"folder:{inbox}"}
    create(tmp_path / "home", "flu", MonitorSettings.of(values), created_by="ann")
    inbox.rmdir()
    assert browser.post("/monitors/flu/run").status_code == 303
    failure = MonitorFolder(tmp_path / "home" / "flu").failure
    wait_until(failure.exists)
    wait_until(lambda: all(process.poll() is not None for process in _started))
    why = f"{inbox}: there is no such folder; make it first"
    monitor = browser.app.state.studio.monitor("flu")
    assert monitor.records.jobs.newest() == []  # it came too early to be a job
    assert why in browser.get("/monitors/flu").text
    assert browser.get("/api/v1/monitors/flu").json()["failure"] == why
    assert anyio.run(Live().counts, monitor)["failure"] == why

    inbox.mkdir()
    assert browser.post("/monitors/flu/run").status_code == 303
    wait_until(lambda: any(job.state == "running" for job in monitor.records.jobs.newest()))
    assert browser.get("/api/v1/monitors/flu").json()["failure"] is None
    browser.post("/monitors/flu/stop")
    wait_until(lambda: all(process.poll() is not None for process in _started))
    assert not failure.exists()


def test_a_monitor_is_started_and_stopped_from_its_page(browse: Callable[..., Browser], tmp_path: Path) -> None:
    browser = browse()
    (tmp_path / "inbox").mkdir()
    values = {"subject": "flu", "keywords": ["flu"], "source": f"folder:{tmp_path / 'inbox'}"}
    create(tmp_path / "home", "flu", MonitorSettings.of(values), created_by="ann")
    monitor = browser.app.state.studio.monitor("flu")
    assert "Start collecting" in browser.get("/monitors/flu").text
    assert browser.post("/monitors/flu/run").status_code == 303
    assert 'data-when="not running" hidden' in browser.get("/monitors/flu").text, "the page that follows shows it"
    wait_until(lambda: any(job.kind == "collect" and job.state == "running" for job in monitor.records.jobs.newest()))
    assert browser.post("/monitors/flu/run").status_code == 409
    assert browser.post("/monitors/flu/stop").status_code == 303
    assert 'data-when="collecting" hidden' in browser.get("/monitors/flu").text
    wait_until(lambda: all(process.poll() is not None for process in _started))
    actions = [(entry.who, entry.action) for entry in monitor.records.journal.entries()]
    assert ("ann", "run") in actions
    assert ("ann", "cancel") in actions
