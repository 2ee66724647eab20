"""The studio in a real browser: from a file of posts, some hostile, to a decision; and a backtest that is stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from klda.posts.schema import from_batch
from klda.simulation import World
from tests.e2e.chromium import playwright
from tests.e2e.studio import complaints_of, served, violations
from tests.unit.report.hostile import ATTACKS

pytestmark = pytest.mark.browser

PATIENCE = 90_000  # milliseconds: a process has to start, and machines are busy
SHOTS = Path(os.environ.get("KLDA_SCREENSHOTS", ""))


@dataclass
class Visit:
    """A page, and everything that it complained about."""

    page: playwright.Page
    base: str
    complaints: list[str]

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)

    def check_access(self) -> None:
        """Nothing serious stands between the page and those who use it without eyes or hands."""
        assert violations(self.page) == []

    def shoot(self, name: str) -> None:
        """Pictures of the page at desktop and phone width, where somebody wants to look at them."""
        for width in (1280, 390):
            self.page.set_viewport_size({"width": width, "height": 900})
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than {width}"
            if SHOTS.name:
                self.page.wait_for_timeout(400)
                self.page.screenshot(path=SHOTS / f"{name}-{width}.png", full_page=True)
        self.page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five weeks of posts; every twentieth carries something that would like to run."""
    path = tmp_path_factory.mktemp("posts") / "posts.jsonl"
    world = World(weeks=5, posts_per_week=600)
    with path.open("w", encoding="utf-8") as file:
        for number, post in enumerate(post for batch in world.batches() for post in from_batch(batch)):
            attack = ATTACKS[number // 20 % len(ATTACKS)] if number % 20 == 0 else ""
            text = f"{post.text} {attack}".encode("utf-8", "replace").decode()
            plain = {"id": post.id, "time": post.time.isoformat(), "text": text, "author": post.author}
            file.write(json.dumps(plain) + "\n")
    return path


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="module")
def visit(browser: playwright.Browser, studio: str) -> Visit:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, timezone_id="Europe/Berlin")
    page.set_default_timeout(PATIENCE)
    return Visit(page, studio, complaints_of(page))


@pytest.fixture(autouse=True)
def nothing_ran(visit: Visit) -> Iterator[None]:
    yield
    assert visit.page.evaluate("window.hacked") is None
    assert visit.complaints == []


def test_a_file_becomes_a_monitor_with_a_proposal(visit: Visit, posts: Path) -> None:
    page = visit.page
    visit.go("/upload")
    visit.shoot("upload")
    visit.check_access()
    page.set_input_files("#file", posts)
    page.wait_for_url("**/upload/*")
    assert "of 3,000 records" in page.locator(".tiles").inner_text()
    page.click("[data-keyword='health']")
    assert page.input_value("#field-keywords") == "health"
    page.fill("#field-keywords", "health, hospital, doctor")
    visit.shoot("upload-preview")
    visit.check_access()
    page.fill("#field-subject", "Health and how people speak of it")
    page.click("text=Make the monitor")
    assert "this is needed" in page.locator("#error-name").inner_text() or page.locator(".field.wrong").count()
    visit.complaints.clear()  # the browser notes that a form was answered with 422
    page.fill("#field-name", "health")
    page.fill("#field-max_posts", "2000")
    page.select_option("#field-policy", "klda")
    page.click("text=Make the monitor")
    page.wait_for_url("**/monitors/health/proposal")
    visit.shoot("making")
    page.wait_for_selector("#selection")
    assert page.locator(".reason").count() >= 3


def test_the_dial_chooses_anew_at_once(visit: Visit) -> None:
    page = visit.page
    visit.go("/monitors/health/proposal")
    page.wait_for_selector("html[data-ready=yes]")
    visit.shoot("proposal")
    visit.check_access()
    before = page.locator("#selection").inner_text()
    page.focus("#dial")
    with page.expect_response("**/dial?novelty=0"):
        page.keyboard.press("Home")
    page.wait_for_selector("#selection[data-novelty='0.0']")
    assert page.locator("#dial-value").inner_text() == "0.0"
    with page.expect_response("**/dial?novelty=1"):
        page.keyboard.press("End")
    page.wait_for_selector("#selection[data-novelty='1.0']")
    page.locator("#dial").fill("0.5")
    page.wait_for_selector("#selection[data-novelty='0.5']")
    assert page.locator("#selection h2").first.inner_text() == "The proposed list"
    assert page.locator("#selection").inner_text().split("What if?")[1] == before.split("What if?")[1]


def test_what_if_follows_the_ticks(visit: Visit) -> None:
    page = visit.page
    visit.go("/monitors/health/proposal")
    boxes = page.locator(".ticks input[name=keyword]")
    now = page.locator("#outlook").inner_text()
    with page.expect_response("**/what-if?**"):
        boxes.nth(boxes.count() - 1).check()
    playwright.expect(page.locator("#outlook")).not_to_have_text(now, use_inner_text=True)
    assert "Expected posts" in page.locator("#outlook").inner_text()
    for box in boxes.all():
        if box.is_checked():
            box.uncheck()
    playwright.expect(page.locator("#outlook")).to_contain_text("at least one")


def test_old_numbers_beside_new_ticks_are_called_out_of_date(visit: Visit) -> None:
    page = visit.page
    visit.go("/monitors/health/proposal")
    box = page.locator(".ticks input[name=keyword]").last
    page.route("**/what-if?**", lambda route: route.abort())
    box.click()
    playwright.expect(page.locator("#notice")).to_contain_text("does not answer")
    page.unroute("**/what-if?**")
    box.click()
    playwright.expect(page.locator("#notice")).to_be_empty()
    visit.complaints.clear()  # the browser notes that a request failed


def test_enter_in_a_field_decides_nothing(visit: Visit) -> None:
    page = visit.page
    visit.go("/monitors/health/proposal")
    page.fill("#more", "fever")
    page.press("#more", "Enter")
    page.wait_for_timeout(500)
    assert page.locator("button[value=approve]").count() == 1
    assert page.input_value("#more") == "fever"


def test_posts_are_shown_as_text(visit: Visit) -> None:
    visit.go("/monitors/health/proposal")
    for summary in visit.page.locator(".reason summary").all():
        summary.click()
    assert visit.page.locator(".post").count() > 0
    assert visit.page.locator(".post mark").count() > 0
    assert visit.page.locator(".post script, .post img, .post svg, .post [onmouseover]").count() == 0


def test_a_decision_is_taken_once_and_stands_in_the_history(visit: Visit) -> None:
    page = visit.page
    visit.go("/monitors/health/proposal")
    page.fill("#note", "as discussed <b>today</b>")
    page.click("button[value=approve]")
    page.wait_for_selector(".flag.good")
    said = page.locator(".flag.good").inner_text()
    assert "Approved by ann" in said
    assert "<b>today</b>" in said
    assert page.locator("button[value=approve]").count() == 0
    page.click("text=See the history")
    page.wait_for_url("**/history")
    assert "health" in page.locator("main").inner_text()


def test_a_backtest_runs_shows_its_tables_and_another_is_stopped(visit: Visit) -> None:
    page = visit.page
    visit.go("/monitors/health/backtest")
    for box in page.locator("input[name=policy]").all():
        box.set_checked(box.get_attribute("value") in ("static", "frequent"))
    page.check("input[value=closed]")
    page.click("text=Run it")
    page.wait_for_selector(".working")
    visit.shoot("backtest-running")
    page.wait_for_url("**/backtests/*")
    page.wait_for_selector("table.results")
    page.wait_for_selector("html[data-ready=yes]")
    visit.shoot("backtest")
    visit.check_access()
    visit.go("/monitors/health/backtest")
    page.click("text=Run it")
    page.wait_for_selector(".working")
    page.click("[data-cancel]")
    page.wait_for_selector("text=was cancelled")
    assert page.locator(".working").count() == 0
