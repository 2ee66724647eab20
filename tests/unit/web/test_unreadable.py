from __future__ import annotations

import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from klda.monitor.create import create
from klda.monitor.monitor_settings import MonitorSettings
from klda.store import create_monitor
from klda.web import studio
from tests.unit.web.conftest import Browse, Browser

SETTINGS = {"subject": "flu", "keywords": ["flu"], "source": "jetstream"}
PATHS = ["/", "/jobs", "/jobs/list", "/metrics", "/api/v1/monitors", "/api/v1/jobs"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a monitor that can be read."""
    create(tmp_path / "home", "flu", MonitorSettings.of(SETTINGS), created_by="ann")
    return tmp_path / "home"


@contextmanager
def database(*, answers: bool) -> Iterator[tuple[str, list[socket.socket]]]:
    """The address of what is no PostgreSQL, and who has come: it hangs up at once, or says nothing until the end."""
    came: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def listen() -> None:
            while True:
                try:
                    came.append(listening.accept()[0])
                except OSError:
                    return
                if answers:
                    came[-1].close()

        thread = Thread(target=listen)
        thread.start()
        try:
            port = listening.getsockname()[1]
            yield f"postgresql://ann@127.0.0.1:{port}/klda?sslmode=disable&gssencmode=disable", came
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in came:
                one.close()


def keep_records_at(home: Path, name: str, address: str) -> None:
    create_monitor(home, name, MonitorSettings.of(SETTINGS | {"storage": {"database": address}}).to_toml())


def assert_unreadable(browser: Browser, name: str, why: str) -> None:
    """One monitor says why it cannot be read; the other is as it always is."""
    for path in PATHS:
        assert browser.get(path).status_code == 200, path
    for path in ("/", "/jobs"):
        page = browser.get(path).text
        assert "unreadable" in page
        assert why in page
        assert 'href="/monitors/flu"' in page
    broken, flu = browser.get("/api/v1/monitors").json()
    assert (broken["name"], flu["name"], flu["keywords"]) == (name, "flu", ["flu"])
    assert set(broken) == {"name", "unreadable"}
    assert why in broken["unreadable"]
    metrics = browser.get("/metrics").text
    assert f'klda_unreadable{{monitor="{name}"}} 1.0' in metrics
    assert 'klda_unreadable{monitor="flu"} 0.0' in metrics
    assert f'klda_posts{{monitor="{name}"}}' not in metrics


def test_broken_settings_hide_no_other_monitor(home: Path, browse: Browse) -> None:
    create_monitor(home, "broken", "subject = ")
    browser = browse()
    assert_unreadable(browser, "broken", "klda.toml: not TOML")
    assert browser.get("/monitors/broken").status_code == 422
    (home / "broken" / "klda.toml").write_text(MonitorSettings.of(SETTINGS).to_toml())
    assert [one["name"] for one in browser.get("/api/v1/monitors").json() if "posts" in one] == ["broken", "flu"]


def test_records_that_break_while_they_are_open_hide_no_other_monitor(home: Path, browse: Browse) -> None:
    create(home, "broken", MonitorSettings.of(SETTINGS), created_by="ann")
    browser = browse()
    assert browser.get("/monitors/broken").status_code == 200
    with sqlite3.connect(home / "broken" / "state.db") as records:
        records.executescript("DROP TABLE jobs; DROP TABLE volume; DROP TABLE keyword_spans")
    records.close()
    assert_unreadable(browser, "broken", "no such table")


def test_a_folder_that_may_not_be_looked_into_hides_no_other_monitor(
    home: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_monitor(home, "broken", "")
    stat = Path.stat

    def refused(path: Path, **options: bool) -> object:
        if path.parent.name == "broken":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refused)  # whoever runs tests may be let in everywhere
    assert_unreadable(browse(), "broken", "Permission denied")


def test_a_database_that_did_not_answer_is_not_waited_for_at_every_request(
    home: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio, "PAUSE", 3600.0)
    with database(answers=True) as (address, came):
        keep_records_at(home, "away", address)
        browser = browse()
        assert_unreadable(browser, "away", "the database does not answer")
        assert len(came) == 1
        assert browser.get("/monitors/away").status_code == 503  # who wants this one waits for it


def test_a_database_that_says_nothing_keeps_nobody_from_other_monitors(home: Path, browse: Browse) -> None:
    with database(answers=False) as (address, came):
        keep_records_at(home, "mute", address)
        browser = browse()
        waiting = Thread(target=browser.get, args=("/monitors/mute",))
        waiting.start()
        while not came:
            assert waiting.is_alive()
            time.sleep(0.01)
        assert browser.get("/monitors/flu").status_code == 200
        assert waiting.is_alive()
    waiting.join()
