"""The report on a backtest in a real browser: offline, at desktop and phone width, with hostile names."""

from __future__ import annotations

import pytest

from klda.report.backtest_report import write_backtest
from tests.e2e.chromium import WIDTHS, playwright, watched
from tests.unit.report.backtest_sample import closed_sample, open_sample
from tests.unit.report.hostile import ATTACKS
from tests.unit.report.test_backtest_report import tampered

pytestmark = pytest.mark.browser

PICTURES = {"open": 4, "closed": 12, "hostile": 4}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("backtests")
    summaries = {"open": open_sample(), "closed": closed_sample(), "hostile": tampered(open_sample(), ATTACKS)}
    for name, summary in summaries.items():
        write_backtest(summary, folder / f"{name}.html", title="Backtest")
    return {name: (folder / f"{name}.html").as_uri() for name in summaries}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PICTURES)
def test_the_page_draws_itself_without_network(
    browser: playwright.Browser, addresses: dict[str, str], name: str, width: str
) -> None:
    context = browser.new_context(viewport={"width": WIDTHS[width], "height": 900}, offline=True)
    page = context.new_page()
    complaints, requests = watched(page)
    page.goto(addresses[name])
    page.wait_for_selector("html[data-drawn=yes]", timeout=60_000)
    assert complaints == []
    assert requests == [addresses[name]]
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    assert page.locator("figure[data-picture] .chart.vega-embed svg").count() == PICTURES[name]
    context.close()
