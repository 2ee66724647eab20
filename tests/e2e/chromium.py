"""The browser in which pages are looked at: the system's chromium, driven by playwright."""

from __future__ import annotations

from pathlib import Path

import pytest

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

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: NO BROWSER looked at the pages"
)
