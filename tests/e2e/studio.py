"""The studio, served to a real browser."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from klda.web.application import create_app
from klda.web.studio_settings import StudioSettings

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")


@contextmanager
def served(home: Path, **settings: Any) -> Iterator[str]:
    """The address of a studio over a home, for as long as the block lasts."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    app = create_app(StudioSettings(home, port=listening.getsockname()[1], local_user="ann", **settings))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        app.state.live.over = True
        server.should_exit = True
        thread.join(10)


FAILED = ("htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")
"""What htmx says of every request that failed or gave way to a newer one, without saying why."""


def complaints_of(page: Any) -> list[str]:
    """What a page says against itself as it goes on: errors, refused scripts and styles, dialogues."""
    found: list[str] = []

    def said(message: Any) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(FAILED):
            found.append(message.text)

    def failed(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # who leaves a page cuts off what it was asking for
            found.append(f"{request.url}: {request.failure}")

    page.on("console", said)
    page.on("requestfailed", failed)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("dialog", lambda dialog: found.append(dialog.message))
    return found


def violations(page: Any) -> list[str]:
    """What axe-core finds that would keep people out; put in by the test, as the page's own policy allows no more."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]} ({len(one['nodes'])} times)"
        for one in result["violations"]
        if one["impact"] in SERIOUS
    ]
