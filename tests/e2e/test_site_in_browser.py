"""The site of the documents, opened as a file: its search works, and nothing is asked of the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chromium import watched
from tests.unit.docs.pages import build

pytestmark = pytest.mark.browser


def test_search_works_where_the_site_is_opened_as_a_file(browser: Any, tmp_path: Path):
    assert build(tmp_path).returncode == 0
    page = browser.new_page()
    said, asked = watched(page)
    page.goto((tmp_path / "index.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type("retention")
    page.wait_for_selector(".md-search-result__item a[href*='monitor-settings']", state="attached")
    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []
