"""The pictures of the documents are taken here. The test fails when a page has changed since its picture was taken.

It compares what does not depend on the posts: sizes, headings, tabs, buttons, columns and charts. `make pictures` takes
the pictures anew; look at them before you commit them.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import klda
from klda.monitor.create import create
from klda.monitor.monitor import opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.run import run
from klda.simulation import write
from tests.e2e.chromium import playwright
from tests.e2e.studio import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
OUTLINES = Path(__file__).parent / "picture_outlines.json"
"""What each page looked like when its picture was taken."""
TAKE = bool(os.environ.get("KLDA_PICTURES"))
"""Whether to write the pictures rather than to compare the pages with them."""
SIZES = {
    "report": (1100, 1180, 1.0),
    "studio-monitor": (1280, 1000, 1.0),
    "studio-history": (1280, 1000, 1.0),
    "studio-phone": (390, 1100, 1.0),
    "studio-upload": (1280, 1130, 1.0),
    "studio-proposal": (1280, 1480, 0.75),
    "studio-backtest": (1280, 1960, 0.7),
}
"""Width and height of the window, and how much smaller the picture is."""
WORLD = klda.World(weeks=6, posts_per_week=5000)
"""Of the page on first advice."""
LONGER = klda.World(weeks=8, posts_per_week=5000)
HEALTH = ["health", "hospital", "doctor"]
PATIENCE = 120_000  # milliseconds: a process has to start, and machines are busy
OUTLINE = """() => {
    const words = element => {
        const copy = element.cloneNode(true);
        copy.querySelectorAll("time, .badge").forEach(part => part.remove());
        return copy.textContent.trim().replace(/\\s+/g, " ");
    };
    return [...document.querySelectorAll(
        "h1, h2, nav a, button:not([data-keyword]), th[scope=col], thead th, legend, [data-chart], [data-picture]"
    )].filter(element => element.checkVisibility() && !element.closest(".vega-bindings"))
      .map(element => element.dataset.chart ? `chart ${element.dataset.chart}`
        : element.dataset.picture ? `picture ${element.dataset.picture}`
        : `${element.localName} ${words(element)}`);
}"""
READY = "html[data-ready=yes]"


def size_of(picture: Path | bytes) -> tuple[int, int]:
    """Width and height of a PNG."""
    content = picture if isinstance(picture, bytes) else picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


class Camera:
    """Takes pictures, or compares the pages with those that were taken."""

    def __init__(self, browser: playwright.Browser) -> None:
        self._browser = browser
        self._outlines: dict[str, list[str]] = json.loads(OUTLINES.read_text(encoding="utf-8"))

    @contextmanager
    def page(self, name: str) -> Iterator[playwright.Page]:
        """A page of the size of this picture."""
        width, height, scale = SIZES[name]
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            device_scale_factor=scale,
            color_scheme="dark" if name == "studio-phone" else "light",
            timezone_id="UTC",
            locale="en-US",
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        yield page
        context.close()

    def take(self, page: playwright.Page, name: str) -> None:
        """Takes the picture of a page that is ready."""
        page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
        page.wait_for_timeout(300)  # for what fades in
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[name][0]
        outline: list[str] = page.evaluate(OUTLINE)
        picture = page.screenshot()
        width, height, scale = SIZES[name]
        size = (round(width * scale), round(height * scale))
        assert size_of(picture) == size
        if TAKE:
            (PICTURES / f"{name}.png").write_bytes(picture)
            self._outlines[name] = outline
            OUTLINES.write_text(json.dumps(self._outlines, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        assert outline == self._outlines[name], f"{name}.png is old: run `make pictures`, and look at it"
        assert size_of(PICTURES / f"{name}.png") == size


@pytest.fixture(scope="module")
def camera(browser: playwright.Browser) -> Camera:
    return Camera(browser)


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(WORLD, tmp_path_factory.mktemp("posts") / "posts.parquet")


def replayed(home: Path, posts: Path) -> None:
    """Makes a monitor whose proposals are approved automatically, and runs it to the end of these posts."""
    keywords = [*HEALTH, "medicine"]
    values: dict[str, Any] = {"subject": "public health", "keywords": keywords, "source": f"replay:{posts}"}
    values |= {"approval": "auto", "sample": 0.3, "budget": {"max_keywords": 12}}
    create(home, "health", MonitorSettings.of(values), created_by="ann")
    with opened(home, "health") as monitor:
        asyncio.run(run(monitor, asyncio.Event()))


def test_every_picture_is_taken_here():
    assert {path.stem for path in PICTURES.iterdir()} == set(SIZES) == set(json.loads(OUTLINES.read_text()))


def test_the_report(camera: Camera, posts: Path, tmp_path: Path) -> None:
    """The report of the page on first advice."""
    advice = klda.recommend(posts, HEALTH, subject="public health", budget=8)
    corpus = klda.Corpus.from_posts(klda.read_posts(posts), HEALTH)
    klda.write_report(advice, corpus, tmp_path / "report.html", subject="public health")
    with camera.page("report") as page:
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("html[data-drawn=yes]")
        assert page.locator(".chart svg").count() >= 4
        camera.take(page, "report")


def test_a_monitor_with_a_past(camera: Camera, tmp_path: Path) -> None:
    """Eight weeks of a replay whose proposals are approved automatically: now, history, and now on a phone."""
    home = tmp_path / "home"
    with ThreadPoolExecutor(1) as beside:  # the browser has a loop of its own here
        beside.submit(replayed, home, write(LONGER, tmp_path / "posts.parquet")).result()
    with served(home) as address:
        for name, path, charts in (
            ("studio-monitor", "/monitors/health", 2),
            ("studio-phone", "/monitors/health", 2),
            ("studio-history", "/monitors/health/history", 2),
        ):
            with camera.page(name) as page:
                page.goto(address + path)
                page.wait_for_selector(READY)
                assert page.locator("figure[data-chart] svg").count() == charts
                camera.take(page, name)


def test_from_a_file_to_a_proposal_and_a_backtest(camera: Camera, posts: Path, tmp_path: Path) -> None:
    with served(tmp_path / "home") as address:
        with camera.page("studio-upload") as page:
            page.goto(f"{address}/upload")
            page.set_input_files("#file", posts)
            page.wait_for_url("**/upload/*")
            page.wait_for_selector(READY)
            assert page.locator("[data-keyword]").count() > 5
            camera.take(page, "studio-upload")
            page.fill("#field-name", "health")
            page.fill("#field-subject", "public health")
            page.fill("#field-keywords", ", ".join(HEALTH))
            page.click("text=Make the monitor")
            page.wait_for_url("**/monitors/health/proposal")
            page.wait_for_selector("#selection")
        with camera.page("studio-proposal") as page:
            page.goto(f"{address}/monitors/health/proposal")
            page.wait_for_selector(READY)
            assert page.locator("#selection .reason").count() > 3
            assert page.locator("button[value=approve]").count() == 1
            camera.take(page, "studio-proposal")
        with camera.page("studio-backtest") as page:
            page.goto(f"{address}/monitors/health/backtest")
            for box in page.locator("input[name=policy]").all():
                box.set_checked(box.get_attribute("value") in ("klda", "frequent", "static"))
            page.check("input[value=closed]")
            page.click("text=Run it")
            page.wait_for_url("**/backtests/*")
            page.wait_for_selector("table.results")
            page.wait_for_selector(READY)
            assert page.locator("figure[data-chart] svg").count() >= 4
            camera.take(page, "studio-backtest")
