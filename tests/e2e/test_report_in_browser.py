"""The report in a real browser: offline, at desktop and phone width, benign and hostile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from klda.report.content import Report
from klda.report.html import write
from tests.unit.report.hostile import ATTACKS, tampered
from tests.unit.report.sample import REPORT

pytestmark = pytest.mark.browser

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"desktop": 1280, "phone": 390}
REPORTS = {"sample": REPORT, "hostile": tampered(REPORT, ATTACKS)}

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: NO BROWSER looked at the report"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no chromium at {CHROMIUM}: NO BROWSER looked at the report; install it with apt-get")
    with playwright.sync_playwright() as player:
        started = player.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", REPORTS)
def test_the_page_draws_itself_without_network(
    browser: playwright.Browser, tmp_path: Path, name: str, width: str, scheme: str
) -> None:
    address = saved(REPORTS[name], tmp_path)
    context = browser.new_context(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    assert complaints == []
    assert requests == [address]
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    drawn = page.locator("figure[data-picture] .chart.vega-embed svg")
    assert drawn.count() == page.locator("figure[data-picture]").count() == 7
    assert all(drawn.nth(i).bounding_box()["height"] > 100 for i in range(7))
    picture = page.screenshot(path=tmp_path / f"{name}-{width}-{scheme}.png", full_page=True)
    assert picture.startswith(b"\x89PNG")
    context.close()


def test_pictures_explain_themselves_under_the_pointer(browser: playwright.Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(saved(REPORT, tmp_path))
    page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    page.locator("figure[data-picture=frontier] .mark-symbol path").nth(4).hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "87%" in tooltip.inner_text()
    page.close()


def test_pictures_are_there_without_scripts(browser: playwright.Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(saved(REPORT, tmp_path))
    pictures = page.locator("figure[data-picture] svg")
    assert pictures.count() == 7
    assert all(pictures.nth(i).is_visible() for i in range(7))
    context.close()


def saved(report: Report, folder: Path) -> str:
    path = folder / "report.html"
    write(report, path)
    return path.as_uri()
