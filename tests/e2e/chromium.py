"""The browser in which pages are looked at: the system's chromium, driven by playwright."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def watched(page: Any) -> tuple[list[str], list[str]]:
    """Whatever a page says as it goes on (in the console, errors, dialogues), and every address it asks for."""
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    return said, asked
