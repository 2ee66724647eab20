"""The end of a monitor, by its page and by the API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from klda.monitor.create import create
from klda.monitor.monitor import opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.store import MonitorFolder
from tests.unit.web.conftest import Browser

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
