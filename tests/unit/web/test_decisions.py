"""Proposals, backtests and uploads through pages and the API, without a browser."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from klda.advice.proposal import Proposal
from klda.monitor.create import create_from_upload, fill
from klda.monitor.monitor import opened
from klda.monitor.saved_choices import load_choices, save_choices
from klda.simulation import World, write
from klda.types import KeywordSet
from klda.web.pages.proposals import _frontier
from klda.web.studio_settings import StudioSettings
from tests.unit.monitor.uploading import VALUES, sent
from tests.unit.web.conftest import Browser
from tests.unit.web.home import MONDAY, make_home


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("world") / "posts.parquet"
    write(World(weeks=4, posts_per_week=500), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def made(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a monitor whose proposal waits."""
    home = tmp_path_factory.mktemp("home")
    create_from_upload(home, "health", sent(home, content), VALUES, created_by="ann")
    with opened(home, "health") as monitor:
        fill(monitor)
    return home


@pytest.fixture
def browser(made: Path) -> Iterator[Browser]:
    one = Browser(StudioSettings(made, local_user="ann"))
    yield one
    one.app.state.studio.close()


def waiting(browser: Browser) -> dict[str, Any]:
    listed = browser.get("/api/v1/monitors/health/proposals").json()
    found: dict[str, Any] = browser.get(f"/api/v1/monitors/health/proposals/{listed[0]['id']}").json()
    return found


def test_no_keyword_of_a_form_is_endless(browser: Browser) -> None:
    proposal = waiting(browser)
    form = {"verdict": "edit", "keyword": "x" * 501}
    assert browser.post(f"/monitors/health/proposals/{proposal['id']}/decide", form).status_code == 422
    assert waiting(browser)["state"] == "waiting"


def test_the_page_has_cards_with_reasons_and_rules(browser: Browser) -> None:
    proposal, page = waiting(browser), browser.get("/monitors/health/proposal").text
    for reason in proposal["reasons"]:
        assert f"<bdi>{reason['keyword']}</bdi>" in page
    assert "Approve as proposed" in page
    assert "Rules for the platform" in page
    assert "&#34;track&#34;" in page


def test_the_dial_and_what_if_agree_with_the_proposal(browser: Browser) -> None:
    proposal = waiting(browser)
    base = f"/api/v1/monitors/health/proposals/{proposal['id']}"
    turned = browser.get(f"{base}/dial", params={"novelty": 0.5}).json()
    assert (turned["keep"], turned["add"], turned["drop"]) == (proposal["keep"], proposal["add"], proposal["drop"])
    weighed = browser.get(f"{base}/what-if", params={"keyword": proposal["next"]}).json()
    assert weighed["expected_posts"] == proposal["expected_posts"] == turned["expected_posts"]
    assert weighed["retention"] == pytest.approx(turned["retention"])


@pytest.mark.parametrize("novelty", ["-0.1", "1.5", "nan", "much"])
def test_a_dial_beyond_its_ends_is_refused(browser: Browser, novelty: str) -> None:
    path = f"/api/v1/monitors/health/proposals/{waiting(browser)['id']}/dial"
    assert browser.get(path, params={"novelty": novelty}).status_code == 422


def test_a_word_that_is_typed_is_looked_up_in_the_posts(browser: Browser) -> None:
    proposal = waiting(browser)
    path = f"/monitors/health/proposals/{proposal['id']}/what-if"
    words = [*proposal["current"], "<b>unheard</b>"]
    answer = browser.get(f"/api/v1{path}", params={"keyword": words}).json()
    assert answer["unknown"] == ["<b>unheard</b>"]
    page = browser.get(path, params={"keyword": proposal["current"], "more": "<b>unheard</b>"}).text
    assert "&lt;b&gt;unheard&lt;/b&gt;</bdi>: no stored post has it." in page


@pytest.mark.parametrize("path", ["proposals/0123456789abcdef", "backtests/0123456789abcdef", "jobs/0123456789abcdef"])
def test_what_is_not_there_is_not_found(browser: Browser, path: str) -> None:
    assert browser.get(f"/api/v1/monitors/health/{path}").status_code == 404
    assert browser.get(f"/monitors/health/{path}").status_code == 404


def test_rules_are_given_for_every_platform(browser: Browser) -> None:
    proposal = waiting(browser)
    for platform in ("x-v1", "x-v2", "bluesky", "mastodon"):
        step = browser.get(f"/api/v1/monitors/health/proposals/{proposal['id']}/rules/{platform}").json()
        assert step["platform"] == platform
        assert set(proposal["add"]) <= set(step["add"])
    assert browser.get("/api/v1/monitors/health/rules/x-v2").json()["add"]


def test_decisions_are_kept_under_the_name_behind_the_token(content: bytes, tmp_path: Path) -> None:
    create_from_upload(tmp_path, "health", sent(tmp_path, content), VALUES, created_by="ann")
    with opened(tmp_path, "health") as monitor:
        fill(monitor)
    tokens = {"bob": "0123456789abcdef-bob"}
    browser = Browser(StudioSettings(tmp_path, tokens=tokens))
    bearer = {"Authorization": f"Bearer {tokens['bob']}"}
    listed = browser.get("/api/v1/monitors/health/proposals", headers=bearer).json()
    path = f"/api/v1/monitors/health/proposals/{listed[0]['id']}/decision"
    assert browser.ask("POST", path, json={"verdict": "approve"}).status_code == 401
    empty = browser.ask("POST", path, json={"verdict": "edit"}, headers=bearer)
    assert empty.status_code == 409
    edited = {"verdict": "edit", "keywords": ["health", "fever"], "note": "fever is coming"}
    answer = browser.ask("POST", path, json=edited, headers=bearer)
    assert answer.json()["decision"]["decided_by"] == "bob"
    assert answer.json()["state"] == "edited"
    assert browser.ask("POST", path, json={"verdict": "reject"}, headers=bearer).status_code == 409
    audit = browser.get("/api/v1/monitors/health/audit", headers=bearer).json()
    assert (audit[0]["who"], audit[0]["action"], audit[0]["detail"]["note"]) == ("bob", "edit", "fever is coming")
    with opened(tmp_path, "health") as monitor:
        assert monitor.records.keywords.active().texts == ("health", "fever")
    browser.app.state.studio.close()


def upload(browser: Browser, content: bytes) -> httpx.Response:
    headers = {"X-CSRF-Token": browser.csrf(), "Content-Type": "application/octet-stream"}
    return browser.ask("POST", "/api/v1/uploads", content=content, headers=headers)


def test_a_file_is_sent_looked_at_and_thrown_away(browser: Browser, content: bytes) -> None:
    answer = upload(browser, content)
    assert (answer.status_code, answer.json()["posts"]) == (201, 2000)
    path = f"/api/v1/uploads/{answer.json()['id']}"
    assert browser.get(path).json() == answer.json()
    assert "What is it about?" in browser.get(f"/upload/{answer.json()['id']}").text
    assert browser.ask("DELETE", path, headers={"X-CSRF-Token": browser.csrf()}).status_code == 204
    assert browser.get(path).status_code == 404


def test_a_file_is_read_in_the_date_format_that_comes_with_it(browser: Browser) -> None:
    content = b"id,time,text\n1,05/01/2026 10:00,health\n"
    headers = {"X-CSRF-Token": browser.csrf(), "Content-Type": "application/octet-stream"}
    path = "/api/v1/uploads?timezone=UTC"
    assert "add the date format" in browser.ask("POST", path, content=content, headers=headers).json()["detail"]
    answer = browser.ask("POST", f"{path}&date_format=%25d/%25m/%25Y %25H:%25M", content=content, headers=headers)
    assert (answer.status_code, answer.json()["start"]) == (201, "2026-01-05T10:00:00+00:00")


def test_a_form_says_what_is_wrong_field_by_field(browser: Browser, content: bytes) -> None:
    name = upload(browser, content).json()["id"]
    page = browser.post(f"/upload/{name}", {"name": "No Good", "keywords": "", "window": "700d", "subject": "x"})
    assert page.status_code == 422
    assert 'id="error-name"' in page.text
    assert 'id="error-keywords"' in page.text
    wide = {"name": "other", "subject": "x", "keywords": "health", "window": "700d"}
    assert 'id="error-window"' in browser.post(f"/upload/{name}", wide).text
    unheard = browser.post(f"/upload/{name}", wide | {"window": "7d", "keywords": "qwertzuiop"}).text
    assert 'id="error-keywords"' in unheard
    assert "no post of the file has any of these keywords" in unheard.lower()
    taken = browser.post(f"/api/v1/uploads/{name}/monitor", json={"name": "health", "subject": "x", "keywords": ["a"]})
    assert taken.json()["fields"] == {"name": "a monitor with this name exists already"}


def test_nonsense_is_no_file_of_posts(browser: Browser) -> None:
    answer = upload(browser, b"\x00\x01nothing")
    assert answer.status_code == 422
    assert "/" not in answer.json()["detail"].split(";")[0]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"a,b,c\n1,2,3\n", "no column for time, text among a, b, c; rename it"),
        (b"text\nhello\n", "no column for time among text; rename it"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_without_options_of_the_command_line(
    browser: Browser, file: bytes, said: str
) -> None:
    detail = upload(browser, file).json()["detail"]
    assert detail.endswith(said)


def test_a_backtest_is_begun_watched_and_stopped(browser: Browser) -> None:
    wrong = browser.post("/api/v1/monitors/health/backtests", json={"policies": ["nobody"]})
    assert wrong.status_code == 422
    job = browser.post("/api/v1/monitors/health/backtests", json={"policies": ["klda"], "tests": 2})
    assert job.status_code == 202
    path = f"/api/v1/monitors/health/jobs/{job.json()['id']}"
    assert "A backtest is running" in browser.get("/monitors/health/backtest").text
    assert browser.post(f"{path}/cancel", json={}).status_code == 202
    until = time.monotonic() + 60
    while browser.get(path).json()["state"] in ("waiting", "running"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert browser.get(path).json()["state"] == "cancelled"
    events = browser.get(f"{path}/events").text
    assert '"state":"cancelled"' in events.replace(" ", "")
    assert "was cancelled" in browser.get("/monitors/health/backtest").text


def test_the_model_behind_a_proposal_is_named(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    with opened(home, "health") as monitor:
        records = monitor.records
        facts = {"policy": "klda", "training": "continue", "words": 4321, "bound": -7.5}
        model = records.journal.add_model(MONDAY, "models/one", **facts)
        active = records.keywords.active()
        saved = records.proposals.save(Proposal(policy="klda", current=active, keep=active), model=model)
    browser = Browser(StudioSettings(home, local_user="ann"))
    page = browser.get("/monitors/health/proposal").text
    assert "Its model knows 4,321 words and was trained on, from the one before." in page
    assert browser.get(f"/api/v1/monitors/health/proposals/{saved}").json()["model"] == model
    [kept] = browser.get("/api/v1/monitors/health").json()["models"]
    assert (kept["id"], kept["training"], kept["words"], kept["bound"]) == (model, "continue", 4321, -7.5)
    browser.app.state.studio.close()


def test_a_dial_whose_settings_all_give_one_list_has_no_picture(made: Path) -> None:
    with opened(made, "health") as monitor:
        [saved] = monitor.records.proposals.newest(1)
    frontier = saved.proposal.frontier
    assert frontier
    alike = tuple(replace(point, keywords=frontier[0].keywords) for point in frontier)
    assert _frontier(replace(saved, proposal=replace(saved.proposal, frontier=alike)), 0.5) is None
    other = (*alike, replace(frontier[0], keywords=("another",), retention=0.1))
    assert _frontier(replace(saved, proposal=replace(saved.proposal, frontier=other)), 0.5) is not None


def test_a_job_that_has_ended_is_not_cancelled_by_page_or_api(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    browser = Browser(StudioSettings(home, local_user="ann"))
    with opened(home, "health") as monitor:
        job = monitor.records.jobs.add("propose")
        monitor.records.jobs.finish(job)
        assert browser.post(f"/api/v1/monitors/health/jobs/{job}/cancel", json={}).json()["state"] == "done"
        assert browser.post(f"/monitors/health/jobs/{job}/cancel").status_code == 200
        assert not monitor.records.jobs.get(job).cancelled
        assert monitor.records.journal.entries(action="cancel") == []
    browser.app.state.studio.close()


def test_an_empty_list_is_shown_and_cannot_be_approved(made: Path, tmp_path: Path) -> None:
    home = shutil.copytree(made, tmp_path / "home")
    with opened(home, "health") as monitor:
        [waits] = monitor.records.proposals.newest(1)
        choices, full = load_choices(monitor, waits.id), waits.proposal
        empty = replace(full, keep=KeywordSet(), add=KeywordSet(), drop=full.current, expected_posts=None)
        saved = monitor.records.proposals.save(empty, flags=["the list is empty: it would collect nothing"])
        save_choices(monitor, saved, choices)
    browser = Browser(StudioSettings(home, local_user="ann"))
    page = browser.get("/monitors/health/proposal")
    assert page.status_code == 200
    assert "the list is empty: it would collect nothing" in page.text
    assert 'value="approve" disabled' in page.text
    assert "Tick at least one keyword." in page.text
    assert "Rules for the platform" not in page.text
    for form in ({"verdict": "approve"}, {"verdict": "edit"}):
        refused = browser.post(f"/monitors/health/proposals/{saved}/decide", form)
        assert (refused.status_code, "would collect nothing" in refused.text) == (409, True)
    edited = browser.post(f"/monitors/health/proposals/{saved}/decide", {"verdict": "edit", "keyword": ["health"]})
    assert edited.status_code == 303
    assert browser.get("/monitors/health/proposal").status_code == 200
    browser.app.state.studio.close()


def test_a_list_that_one_platform_cannot_take_is_shown_with_the_rules_of_the_others(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    with opened(home, "health") as monitor:
        active = monitor.records.keywords.active()
        monitor.records.proposals.save(Proposal("static", active, keep=active, add=KeywordSet.of("#" + "健" * 25)))
    browser = Browser(StudioSettings(home, local_user="ann"))
    page = browser.get("/monitors/health/proposal")
    assert page.status_code == 200
    assert "X v1.1 takes at most 60 bytes a term and this one has 76" in page.text
    assert 'id="rules-bluesky"' in page.text
    browser.app.state.studio.close()


def test_history_leads_to_the_proposal_that_was_decided(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    with opened(home, "health") as monitor:
        waits = monitor.records.proposals.waiting_id()
        assert waits is not None
        monitor.records.keywords.switch(KeywordSet.of("hospital", "flu"), decided_by="ann", proposal=waits[0])
    browser = Browser(StudioSettings(home, local_user="ann"))
    link = f"/monitors/health/proposals/{waits[0]}"
    assert f'href="{link}"' in browser.get("/monitors/health/history").text
    assert browser.get(link).status_code == 200
    browser.app.state.studio.close()
