"""The studio's pages in a real browser: desktop and phone, light and dark, by keyboard, with hostile posts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from klda.monitor.monitor import opened
from tests.e2e.chromium import WIDTHS, playwright
from tests.e2e.studio import complaints_of, served, violations
from tests.unit.report.hostile import ATTACKS
from tests.unit.web.home import make_home

pytestmark = pytest.mark.browser

PAGES = {
    "monitors": "/",
    "new": "/new",
    "monitor": "/monitors/health",
    "history": "/monitors/health/history",
    "jobs": "/jobs",
    "api": "/api",
    "quiet": "/monitors/quiet",
}
PICTURES = {"monitor": 2, "history": 2}
READY = "html[data-ready=yes]"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(make_home(tmp_path_factory.mktemp("home"))) as where:
        yield where


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(make_home(tmp_path_factory.mktemp("hostile"), ATTACKS)) as where:
        yield where


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_draws_itself_keeps_its_width_and_shuts_nobody_out(
    browser: playwright.Browser, address: str, tmp_path: Path, name: str, width: str
) -> None:
    scheme = "dark" if width == "phone" else "light"
    context = browser.new_context(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme)
    page = context.new_page()
    complaints, outside = complaints_of(page), list[str]()
    page.on("request", lambda r: outside.append(r.url) if not r.url.startswith(address) else None)
    page.goto(address + PAGES[name])
    page.wait_for_selector(READY)
    assert page.locator("figure[data-chart] svg").count() == PICTURES.get(name, 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    page.screenshot(path=tmp_path / f"{name}-{width}.png", full_page=True)
    assert violations(page) == []
    assert complaints == []
    assert outside == []
    context.close()


def test_on_a_phone_the_log_is_read_without_moving_it_sideways(browser: playwright.Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": WIDTHS["phone"], "height": 900})
    page.goto(address + PAGES["history"])
    log = page.locator("[aria-label='Audit log'].scroll")
    assert log.locator("tbody tr").count() > 0
    assert log.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    page.close()


@pytest.mark.parametrize("name", ["monitors", "monitor", "history", "jobs"])
def test_posts_of_strangers_do_nothing(browser: playwright.Browser, hostile: str, name: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    complaints = complaints_of(page)
    page.goto(hostile + PAGES[name])
    page.wait_for_selector(READY)
    for summary in page.locator("details summary").all():
        summary.click()
    assert page.evaluate("window.hacked") is None
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    links = page.eval_on_selector_all(".post a", "links => links.map(a => [a.protocol, a.rel])")
    assert all(protocol in ("http:", "https:") and "noopener" in rel for protocol, rel in links)
    assert bool(links) == (name == "monitor")
    page.close()


def test_a_monitor_is_made_by_keyboard_alone(browser: playwright.Browser, tmp_path: Path) -> None:
    with served(tmp_path / "home") as address:
        page = browser.new_page()
        complaints = complaints_of(page)
        page.goto(address)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        for _ in range(10):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "New monitor":
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**/new")
        page.wait_for_selector(READY)
        page.locator("#field-name").focus()
        for text in ("Flu Season", "Flu", "flu, influenza"):  # name, subject, keywords
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        page.locator("#field-subject").press("Enter")
        page.wait_for_selector("#error-name")
        assert all("status of 422" in complaint for complaint in complaints)
        assert page.locator("#field-keywords").input_value() == "flu, influenza"
        assert page.locator("#field-name").get_attribute("aria-invalid") == "true"
        page.locator("#field-name").fill("flu")
        page.locator("#field-name").press("Enter")
        page.wait_for_url("**/monitors/flu")
        assert page.locator("text=No posts yet").is_visible()
        page.close()


def test_the_topic_shows_where_kafka_is_chosen(browser: playwright.Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address + "/new")
    page.wait_for_selector(READY)
    assert not page.locator("#field-topic").is_visible()
    page.locator("#field-kind").select_option("kafka")
    page.wait_for_selector("#field-topic", state="visible")
    page.close()


def test_volume_turns_to_hours_in_place(browser: playwright.Browser, address: str) -> None:
    page = browser.new_page()
    complaints = complaints_of(page)
    page.goto(address + "/monitors/health")
    page.wait_for_selector(READY)
    page.locator("#by-hour").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#by-hour[aria-current=true]")
    page.wait_for_selector("#volume .chart.drawn svg")
    assert page.url == address + "/monitors/health"
    assert page.evaluate("document.activeElement.id") == "by-hour"
    assert complaints == []
    page.close()


def test_nothing_jumps_while_a_page_draws_itself(browser: playwright.Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address + "/monitors/health")
    page.wait_for_selector(READY)
    shift = page.evaluate(
        """() => new Promise(resolve => {
            let total = 0;
            new PerformanceObserver(list => { for (const entry of list.getEntries()) total += entry.value; })
                .observe({ type: "layout-shift", buffered: true });
            setTimeout(() => resolve(total), 300);
        })"""
    )
    assert shift < 0.02
    page.close()


def test_the_theme_is_kept(browser: playwright.Browser, address: str) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(READY)
    page.locator("[data-theme-toggle]").click()
    page.goto(address + "/jobs")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 18, 23)"
    context.close()


def test_times_are_in_the_zone_of_the_reader(browser: playwright.Browser, address: str) -> None:
    shown = {}
    for zone in ("Asia/Tokyo", "America/New_York"):
        context = browser.new_context(timezone_id=zone, locale="en-GB")
        page = context.new_page()
        page.goto(address + "/monitors/health/history")
        page.wait_for_selector(READY)
        shown[zone] = page.locator(".changes time").last.text_content()
        context.close()
    assert shown == {"Asia/Tokyo": "5 Jan 2026, 09:00", "America/New_York": "4 Jan 2026, 19:00"}


def test_the_counter_follows_while_posts_come(browser: playwright.Browser, tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    with served(home) as address, opened(home, "health") as monitor:
        page = browser.new_page()
        page.goto(address + "/monitors/health")
        page.wait_for_selector("[data-live][data-state=live]")
        assert page.locator("[data-value=total]").text_content() == "450"
        store = monitor.posts()
        [batch, *_] = list(store.read().batches())
        again = batch.slice(0, 7).to_pylist()
        renamed = type(batch).from_pylist([post | {"id": f"new-{n}"} for n, post in enumerate(again)], batch.schema)
        store.append(renamed, [("doctor",)] * 7, source="jetstream", batch=6, cursor="6")
        monitor.records.volume.catch_up(store)
        playwright.expect(page.locator("[data-value=total]")).to_have_text("457", timeout=15_000)
        page.close()


def test_a_job_is_cancelled_from_the_page(browser: playwright.Browser, tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    with served(home) as address, opened(home, "health") as monitor:
        job = monitor.records.jobs.add("backtest")
        monitor.records.jobs.report(job, "windows", 3, 12)
        page = browser.new_page()
        page.goto(address + "/jobs")
        page.wait_for_selector(READY)
        page.locator(f"#cancel-{job}").press("Enter")
        page.wait_for_selector("text=is asked to stop")
        assert monitor.records.jobs.get(job).cancelled
        monitor.records.jobs.finish(job)
        page.wait_for_selector("td:has-text('cancelled')", timeout=10_000)
        page.close()
