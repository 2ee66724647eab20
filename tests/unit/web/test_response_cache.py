from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from klda.monitor.monitor import opened
from klda.web import response_cache
from klda.web.pages import jobs, monitor
from tests.unit.web.conftest import BASE, TOKENS, Browser
from tests.unit.web.home import make_home


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "LONGEST", 3600.0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The templates that were rendered for the pages of monitors and jobs."""
    found: list[str] = []
    for page in (monitor, jobs):
        render = page.render

        def counted(request: object, template: str, render: Callable = render, **content: object) -> object:
            found.append(template)
            return render(request, template, **content)

        monkeypatch.setattr(page, "render", counted)
    return found


def test_a_page_is_made_once_while_nothing_changes(home: Path, browse: Callable[..., Browser], made: list) -> None:
    browser = browse()
    first, second = browser.get("/monitors/health"), browser.get("/monitors/health")
    assert first.text == second.text
    assert first.headers["content-security-policy"] == second.headers["content-security-policy"]
    assert made == ["monitor.html"]
    browser.get("/monitors/health?by=hour")
    assert len(made) == 2


def test_what_others_commit_is_seen_at_once(home: Path, browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.get("/monitors/health")
    with opened(home, "health") as elsewhere:
        job = elsewhere.records.jobs.add("topics")
        elsewhere.records.jobs.report(job, "reading the tea leaves", 1, 2)
        assert "reading the tea leaves" in browser.get("/monitors/health").text
        with elsewhere.folder.writer():
            assert "Stop collecting" in browser.get("/monitors/health").text
    assert "Start collecting" in browser.get("/monitors/health").text


def test_a_change_of_one_monitor_leaves_the_pages_of_others(
    home: Path, browse: Callable[..., Browser], made: list
) -> None:
    browser = browse()
    browser.get("/monitors/quiet")
    with opened(home, "health") as elsewhere:
        elsewhere.records.journal.note("ann", "note")
    browser.get("/monitors/quiet")
    assert made == ["monitor.html"]


def test_new_settings_are_seen_at_once(home: Path, browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.get("/monitors/health")
    file = home / "health" / "klda.toml"
    file.write_text(file.read_text().replace("max_keywords = 10", "max_keywords = 77"))
    assert "of 77 allowed" in browser.get("/monitors/health").text


def test_a_window_that_was_changed_is_refused_until_it_is_put_back(home: Path, browse: Callable[..., Browser]) -> None:
    browser, file = browse(), home / "health" / "klda.toml"
    before = file.read_text()
    file.write_text('window = "1h"\n' + re.sub(r"^window.*\n", "", before, flags=re.MULTILINE))
    refused = browser.get("/monitors/health")
    assert refused.status_code == 422
    assert "or make another monitor" in refused.text
    file.write_text(before)
    assert browser.get("/monitors/health").status_code == 200


def test_each_session_finds_its_own_token_in_what_is_kept(home: Path, browse: Callable[..., Browser]) -> None:
    browser, tokens = browse(), set()
    for _ in range(2):
        browser.cookies = httpx.Cookies()
        own = browser.csrf()
        found = set(re.findall(r'name="csrf" value="([^"]+)"', browser.get("/monitors/health").text))
        assert found == {own}
        tokens.add(own)
    assert len(tokens) == 2


def test_nobody_gets_what_was_made_for_another(home: Path, browse: Callable[..., Browser]) -> None:
    browser = browse(tokens=TOKENS)
    bearer = {"Authorization": f"Bearer {TOKENS['ann']}"}
    assert "ann" in browser.get("/monitors/health", headers=bearer).text
    assert browser.get("/api/v1/monitors").status_code == 401
    bob = browser.get("/monitors/health", headers={"Authorization": f"Bearer {TOKENS['bob']}"}).text
    assert re.search(r"\bbob\b", bob)


def test_what_is_kept_counts_under_its_own_route(home: Path, browse: Callable[..., Browser]) -> None:
    browser = browse()
    for _ in range(3):
        browser.get("/jobs")
    assert 'klda_requests_total{method="GET",route="/jobs",status="200"} 3.0' in browser.get("/metrics").text


def test_answers_that_are_no_success_are_not_kept(home: Path, browse: Callable[..., Browser]) -> None:
    browser = browse()
    assert browser.get("/monitors/nobody").status_code == 404
    (home / "quiet").rename(home / "nobody")
    assert browser.get("/monitors/nobody").status_code == 200


def test_those_who_ask_together_get_one_answer_made(home: Path, browse: Callable[..., Browser], made: list) -> None:
    browser = browse()

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(browser.app)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            answers = await asyncio.gather(*(client.get("/monitors/health") for _ in range(8)))
            return [answer.status_code for answer in answers]

    assert asyncio.run(ask()) == [200] * 8
    assert made == ["monitor.html"]


def test_only_so_many_answers_are_kept(
    home: Path, browse: Callable[..., Browser], made: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "MOST", 2)
    browser = browse()
    for path in ("/monitors/health", "/monitors/quiet", "/jobs", "/monitors/health"):
        browser.get(path)
    assert len(made) == 4
