"""What the page of a proposal shows before and after a decision, and when one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from klda.advice.proposal import Proposal
from klda.monitor.monitor import opened
from klda.types import KeywordSet
from tests.unit.web.conftest import BASE, Browse, Browser
from tests.unit.web.home import make_home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture
def browser(browse: Browse, home: Path) -> Browser:
    return browse(home=home)


@pytest.fixture
def proposal(home: Path) -> str:
    """The address of a proposal that waits: the active list with *fever*."""
    with opened(home, "health") as monitor:
        active = monitor.records.keywords.active()
        made = Proposal(policy="static", current=active, keep=active, add=KeywordSet.of("fever"))
        return f"/monitors/health/proposals/{monitor.records.proposals.save(made)}"


def test_a_refused_decision_is_explained_where_it_was_made_and_nothing_typed_is_lost(
    browser: Browser, proposal: str
) -> None:
    typed = {"verdict": "edit", "keyword": ["fever"], "note": "as <b>discussed</b>", "more": "x" * 600}
    page = browser.post(f"{proposal}/decide", typed)
    assert page.status_code == 422
    assert "Nothing was decided:" in page.text
    assert "at most 500 characters" in page.text
    assert "as &lt;b&gt;discussed&lt;/b&gt;</textarea>" in page.text
    assert f'value="{"x" * 600}"' in page.text
    assert 'value="fever" checked' in page.text
    assert page.text.count(" checked>") == 1
    assert browser.get(f"/api/v1{proposal}").json()["state"] == "waiting"


def test_who_decides_too_late_sees_what_was_decided(browser: Browser, proposal: str) -> None:
    assert browser.post(f"{proposal}/decide", {"verdict": "reject"}).status_code == 303
    page = browser.post(f"{proposal}/decide", {"verdict": "approve"})
    assert page.status_code == 409
    assert "no longer waits: it is rejected" in page.text
    assert "<b>Rejected</b> by ann" in page.text
    assert 'class="flag good"' not in page.text


@pytest.mark.parametrize("verdict", ["edit", "reject"])
def test_rules_of_a_decided_proposal_are_those_of_the_list_that_holds(
    browser: Browser, proposal: str, verdict: str
) -> None:
    active = browser.get("/api/v1/monitors/health").json()["keywords"]
    waiting = browser.get(proposal).text
    assert "the active list on the platform to the proposed one" in waiting
    assert " terms, 1 new, 0 gone" in waiting
    form = {"verdict": verdict, "more": "cough", "keyword": active} if verdict == "edit" else {"verdict": verdict}
    assert browser.post(f"{proposal}/decide", form).status_code == 303
    decided = browser.get(proposal).text
    rules = decided.split("<h2>Rules for the platform</h2>")[1].split("</section>")[0]
    assert "The active list, as each platform takes it." in rules
    assert ("cough" in rules, "fever" in rules) == (verdict == "edit", False)
    assert ("The list instead:" in decided) == (verdict == "edit")
    assert " gone" not in rules


def test_enter_in_a_field_decides_nothing(browser: Browser, proposal: str) -> None:
    form = browser.get(proposal).text.split('id="decision"')[1]
    assert form.index('<button type="submit" disabled hidden>') < form.index("<button name=")


def test_a_page_that_cannot_be_had_leads_back_to_where_one_came_from(browser: Browser) -> None:
    came = {"Referer": f"{BASE}/monitors/health?by=day"}
    refused = browser.ask("POST", "/monitors/health/stop", headers=came)
    assert (refused.status_code, "Not allowed" in refused.text) == (403, True)
    assert 'href="/monitors/health">Back to the page' in refused.text
    elsewhere = browser.ask("POST", "/monitors/health/stop", headers={"Referer": "https://elsewhere.example/monitors"})
    assert "Back to the page" not in elsewhere.text


def test_days_of_windows_are_told_in_the_zone_of_the_monitor(browser: Browser, proposal: str) -> None:
    for path in ("/", "/monitors/health", "/monitors/health/history"):
        assert 'data-style="day" data-zone="UTC"' in browser.get(path).text
        assert 'data-style="day">' not in browser.get(path).text


def test_a_backtest_of_nobody_is_not_begun(browser: Browser) -> None:
    answer = browser.post("/monitors/health/backtest", {"loop": "open"})
    assert (answer.status_code, "tick at least one policy" in answer.text.lower()) == (422, True)
