from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from klda.monitor.monitor import opened
from tests.unit.web.conftest import FORM, Browser
from tests.unit.web.home import make_home

PAGES = ["/", "/new", "/monitors/health", "/monitors/health/history", "/monitors/quiet", "/monitors/quiet/history"]
PAGES += ["/jobs", "/api"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_one_heading_a_skip_link_and_no_inline_script_or_style(reader: Browser, path: str) -> None:
    page = reader.get(path)
    assert page.status_code == 200
    assert page.text.count("<h1") == 1
    assert 'href="#content"' in page.text
    assert " style=" not in page.text
    assert not re.search(r"\son\w+=", page.text)
    scripts = re.findall(r"<script([^>]*)>([^<]*)", page.text)
    assert all("src=" in attributes or "application/json" in attributes for attributes, _ in scripts)


def test_the_first_page_lists_monitors_with_what_waits(reader: Browser) -> None:
    text = reader.get("/").text
    assert "/monitors/health" in text
    assert "/monitors/quiet" in text
    assert "A proposal waits, flagged" in text
    assert "450</span> posts" in text


def test_an_empty_home_says_what_to_do_next(browse: Callable[..., Browser]) -> None:
    text = browse().get("/").text
    assert "No monitor yet" in text
    assert 'href="/new"' in text
    assert 'href="/upload"' in text


def test_a_monitor_shows_volume_keywords_topics_and_gaps(reader: Browser) -> None:
    text = reader.get("/monitors/health").text
    for part in ("Volume", "Keywords", "Topics", "Topics over time", "Gaps", "vaccine, vaccines", "asleep"):
        assert part in text
    spec = json.loads(unescape(re.search(r'id="spec-volume">(.*?)</script>', text, re.S)[1]))
    rows = spec["data"]["values"]
    assert {row["keyword"] for row in rows} == {"hospital", "doctor", "vaccine"}
    assert round(sum(row["part"] for row in rows)) == 450  # bars are as high as there are posts


def test_volume_can_be_shown_by_days_and_hours(reader: Browser) -> None:
    for by in ("day", "hour"):
        part = reader.get(f"/monitors/health/volume?by={by}")
        assert part.status_code == 200
        assert part.text.lstrip().startswith('<div id="volume">')
    assert reader.get("/monitors/health/volume?by=century").status_code == 422


def test_history_says_who_came_and_why_and_sets_what_came_against_what_was_expected(reader: Browser) -> None:
    text = reader.get("/monitors/health/history").text
    assert "+ vaccine" in text
    assert "decided by <bdi>bob</bdi>" in text
    assert "brings dose, booster" in text
    assert re.search(r"\d+ of 6</strong> lie within", text)  # three keywords in the two windows that are over


def test_jobs_say_how_far_they_are_and_why_they_failed(reader: Browser) -> None:
    text = reader.get("/jobs").text
    assert "the disk is full" in text
    stamp = re.search(r"seen=(\w+)", text)[1]
    assert reader.get(f"/jobs/list?seen={stamp}").status_code == 204
    assert reader.get("/jobs/list?seen=before").status_code == 200


def test_a_monitor_is_made_from_the_form(browse: Callable[..., Browser]) -> None:
    browser = browse()
    answer = browser.post("/new", FORM | {"max_keywords": "12", "max_posts": "", "language": "fr"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/monitors/flu")
    with opened(browser.app.state.studio.settings.home, "flu") as monitor:
        assert monitor.settings.first_keywords().texts == ("flu", "influenza", "fever")
        assert (monitor.settings.budget.max_keywords, monitor.settings.language) == (12, "fr")
        assert monitor.records.journal.entries()[0].who == "ann"


def test_a_phrase_may_be_typed_in_quotation_marks(browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.post("/new", FORM | {"keywords": 'flu, "long covid", “sore throat”'})
    with opened(browser.app.state.studio.settings.home, "flu") as monitor:
        assert monitor.settings.first_keywords().texts == ("flu", '"long covid"', '"sore throat"')


def test_a_query_that_cannot_be_read_is_shown_with_the_place(browse: Callable[..., Browser]) -> None:
    page = browse().post("/new", FORM | {"keywords": "flu, cough AND (fever"}).text
    assert "a parenthesis is not closed; add a )" in page
    assert '<span class="place">  cough AND (fever\n            ^</span>' in page
    assert "flu, cough AND (fever</textarea>" in page


def test_exclusions_are_shown_with_the_keywords_of_a_monitor(browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.post("/new", FORM | {"keywords": 'flu AND (fever OR cough), -shot, -"bird flu"'})
    page = browser.get("/monitors/flu").text
    assert "<bdi>flu AND (fever OR cough)</bdi>" in page
    assert "left out: <bdi>-shot</bdi>, <bdi>-&#34;bird flu&#34;</bdi>" in page


def test_earlier_proposals_are_told_apart_by_their_window(browse: Callable[..., Browser], tmp_path: Path) -> None:
    home = make_home(tmp_path / "own")
    with opened(home, "health") as monitor:
        first = monitor.records.proposals.waiting()
        assert first is not None
        monitor.records.proposals.save(replace(first.proposal, window="2026-03-02T00:00:00+00:00"))
    listed = browse(home=home).get("/monitors/health/proposal").text.split("<h2>Earlier proposals")[1]
    assert listed.count("for the window from") == listed.count("<li>") == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Not A Name"}, "name"),
        ({"keywords": " , "}, "keywords"),
        ({"window": "often"}, "window"),
        ({"max_keywords": "many"}, "max_keywords"),
        ({"kind": "replay"}, "kind"),
        ({"max_keywords": "2"}, "max_keywords"),
        ({"max_posts": "99999999999"}, "max_posts"),
        ({"keywords": "flu, influenza, " + "x" * 501}, "keywords"),
        ({"kind": "mastodon", "address": "http://127.0.0.1"}, "address"),
        ({"kind": "kafka", "address": "kafka.example.org:9092"}, "topic"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field_and_what_was_typed_stays(
    browse: Callable[..., Browser], change: dict[str, str], field: str
) -> None:
    answer = browse().post("/new", FORM | change)
    assert answer.status_code == 422
    assert f'id="error-{field}"' in answer.text
    assert "influenza" in answer.text or field == "keywords"


def test_a_name_that_is_taken_is_refused(browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.post("/new", FORM)
    assert "exists already" in browser.post("/new", FORM).text


def test_a_monitor_that_is_not_there_is_not_found(reader: Browser) -> None:
    for path in ("/monitors/nothing", "/monitors/nothing/history", "/monitors/No%20<b>", "/nowhere"):
        page = reader.get(path)
        assert page.status_code == 404
        assert "<h1>Not found</h1>" in page.text


def test_a_problem_of_a_part_becomes_a_notice(reader: Browser) -> None:
    part = reader.get("/monitors/nothing", headers={"HX-Request": "true"})
    assert part.headers["hx-retarget"] == "#notice"
    assert "<html" not in part.text


def test_machines_can_watch_the_studio(reader: Browser) -> None:
    assert reader.get("/healthz").text == "ok\n"
    reader.get("/")
    text = reader.get("/metrics").text
    assert 'klda_posts{monitor="health"} 450.0' in text
    assert 'klda_waiting_proposals{monitor="health"} 1.0' in text
    assert 'klda_requests_total{method="GET",route="/",status="200"}' in text


def test_files_are_kept_for_ever_under_their_own_address(reader: Browser) -> None:
    page = reader.get("/").text
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        file = reader.get(address)
        assert file.status_code == 200, address
        assert "immutable" in file.headers["cache-control"]
    assert reader.get("/static/old/studio.css").headers["cache-control"] == "no-cache"
    assert reader.get("/static/x/../app.py").status_code == 404
    assert reader.get("/static/x/%2e%2e/%2e%2e/app.py").status_code == 404


def test_a_list_that_the_source_refuses_is_seen_on_the_page_by_machines_and_in_the_api(
    browse: Callable[..., Browser],
) -> None:
    browser = browse()
    browser.post("/new", FORM)
    for said, count in ((None, "0.0"), ("X refused <rules>", "1.0")):
        with opened(browser.app.state.studio.settings.home, "flu") as monitor:
            if said:
                keywords = list(monitor.records.keywords.active().texts)
                monitor.records.journal.note("klda", "filter refused", "x", keywords=keywords, reason=said)
        page = browser.get("/monitors/flu").text
        told = "still uses the keywords before these" in page
        assert told == ("X refused &lt;rules&gt;" in page) == (said is not None)
        assert f'klda_refused{{monitor="flu"}} {count}' in browser.get("/metrics").text
        assert browser.get("/api/v1/monitors/flu").json()["refused"] == said


def test_a_request_to_stop_a_job_is_recorded(browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.post("/new", FORM)
    with opened(browser.app.state.studio.settings.home, "flu") as monitor:
        job = monitor.records.jobs.add("backtest")
        assert browser.post(f"/monitors/flu/jobs/{job}/cancel").status_code == 200
        assert monitor.records.jobs.get(job).cancelled
        assert (monitor.records.journal.entries()[0].who, monitor.records.journal.entries()[0].action) == (
            "ann",
            "cancel",
        )


def test_a_monitor_that_does_not_run_cannot_be_stopped(reader: Browser) -> None:
    assert reader.post("/monitors/quiet/stop").status_code == 409
