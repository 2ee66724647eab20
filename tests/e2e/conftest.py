"""One browser for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser; where there is none the tests are skipped, loudly."""
    from tests.e2e.chromium import ARGUMENTS, CHROMIUM, playwright  # skips where playwright is not installed

    if not CHROMIUM.exists():
        pytest.skip(f"no chromium at {CHROMIUM}: NO BROWSER looked at the pages; install it with apt-get")
    with playwright.sync_playwright() as player:
        started = player.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()
