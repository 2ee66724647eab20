"""A monitor is started, stopped and deleted from its page and by the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import anyio

from klda.monitor.create import create
from klda.monitor.monitor import opened
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
    why = f"{inbox}: there is no such folder; create it first"
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


PATH = "/monitors/flu/delete"


def _made(browse: Callable[..., Browser], home: Path) -> Browser:
    values = {"subject": "flu", "keywords": ["flu"], "source": "jetstream"}
    create(home, "flu", MonitorSettings.of(values), created_by="ann")
    browser = browse()
    assert PATH in browser.get("/monitors/flu").text
    return browser


def test_a_monitor_goes_once_its_name_was_typed(browse: Callable[..., Browser], tmp_path: Path) -> None:
    browser = _made(browse, tmp_path / "home")
    asked = browser.get(PATH)
    assert (asked.status_code, "There is no way back" in asked.text) == (200, True)
    wrong = browser.post(PATH, {"confirmed": "fl"})
    assert (wrong.status_code, "Type flu to delete it" in wrong.text) == (422, True)
    assert (tmp_path / "home" / "flu").exists()
    done = browser.post(PATH, {"confirmed": " flu "})
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert not (tmp_path / "home" / "flu").exists()
    assert browser.get("/monitors/flu").status_code == 404
    assert "flu" not in [one["name"] for one in browser.get("/api/v1/monitors").json()]


def test_a_name_is_free_again_and_its_new_monitor_knows_nothing_of_the_old(
    browse: Callable[..., Browser], tmp_path: Path
) -> None:
    browser = _made(browse, tmp_path / "home")
    assert browser.ask("DELETE", "/api/v1/monitors/flu").status_code == 403  # without the token of the session
    headers = {"X-CSRF-Token": browser.csrf()}
    assert browser.ask("DELETE", "/api/v1/monitors/flu", headers=headers).status_code == 204
    assert browser.ask("DELETE", "/api/v1/monitors/flu", headers=headers).status_code == 404
    values = {"subject": "other", "keywords": ["fever"], "source": "jetstream"}
    create(tmp_path / "home", "flu", MonitorSettings.of(values), created_by="bob")
    assert browser.get("/api/v1/monitors/flu").json()["keywords"] == ["fever"]


def test_nothing_goes_while_something_works_for_it(browse: Callable[..., Browser], tmp_path: Path) -> None:
    browser, folder = _made(browse, tmp_path / "home"), MonitorFolder(tmp_path / "home" / "flu")
    headers = {"X-CSRF-Token": browser.csrf()}
    with folder.writer():
        refused = browser.ask("DELETE", "/api/v1/monitors/flu", headers=headers)
        assert (refused.status_code, refused.json()["detail"]) == (409, "monitor flu is collecting; stop that first")
        assert "Monitor flu is collecting" in browser.post(PATH, {"confirmed": "flu"}).text
    with opened(tmp_path / "home", "flu") as monitor:
        monitor.records.jobs.add("topics", asked_by="ann")
    refused = browser.ask("DELETE", "/api/v1/monitors/flu", headers=headers)
    assert (refused.status_code, "(topics)" in refused.json()["detail"]) == (409, True)
    assert folder.path.exists()
