"""The report in a real browser: offline, at desktop and phone width, benign and hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from klda.report.proposal_report import write
from tests.e2e.chromium import WIDTHS, playwright, watched
from tests.unit.report.hostile import ATTACKS, tampered
from tests.unit.report.sample import REPORT

pytestmark = pytest.mark.browser

LABELS_OUTSIDE = """
    [...document.querySelectorAll(".vega-embed .role-legend-label text")].filter(label => {
      const [inner, outer] = [label, label.ownerSVGElement].map(element => element.getBoundingClientRect());
      return inner.top < outer.top - 1 || inner.right > outer.right + 1;
    }).map(label => label.textContent)
"""
REPORTS = {"sample": REPORT, "hostile": tampered(REPORT, ATTACKS)}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("reports")
    for name, report in REPORTS.items():
        write(report, folder / f"{name}.html")
    return {name: (folder / f"{name}.html").as_uri() for name in REPORTS}


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [  # every pair of a report, a width and a scheme
        ("sample", "desktop", "light"),
        ("sample", "phone", "dark"),
        ("hostile", "desktop", "dark"),
        ("hostile", "phone", "light"),
    ],
)
def test_the_page_draws_itself_without_network(
    browser: playwright.Browser, addresses: dict[str, str], tmp_path: Path, name: str, width: str, scheme: str
) -> None:
    address = addresses[name]
    context = browser.new_context(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()
    complaints, requests = watched(page)
    page.goto(address)
    page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    assert complaints == []
    assert requests == [address]
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    drawn = page.locator("figure[data-picture] .chart.vega-embed svg")
    assert drawn.count() == page.locator("figure[data-picture]").count() == 6
    assert all(drawn.nth(i).bounding_box()["height"] > 100 for i in range(6))
    assert page.evaluate(LABELS_OUTSIDE) == []
    picture = page.screenshot(path=tmp_path / f"{name}-{width}-{scheme}.png", full_page=True)
    assert picture.startswith(b"\x89PNG")
    context.close()


def test_pictures_explain_themselves_under_the_pointer(browser: playwright.Browser, addresses: dict[str, str]) -> None:
    page = browser.new_page()
    page.goto(addresses["sample"])
    page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    page.locator("figure[data-picture=frontier] .mark-symbol path").nth(4).hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "87%" in tooltip.inner_text()
    page.close()


def test_pictures_are_there_without_scripts(browser: playwright.Browser, addresses: dict[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(addresses["sample"])
    pictures = page.locator("figure[data-picture] svg")
    assert pictures.count() == 6
    assert all(pictures.nth(i).is_visible() for i in range(6))
    context.close()
