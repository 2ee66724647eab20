from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from klda.web.application import create_app
from klda.web.studio_settings import StudioSettings
from tests.unit.web.home import make_home

BASE = "http://127.0.0.1:8650"
FORM = {"name": "flu", "subject": "Flu", "keywords": "flu, influenza\nfever", "kind": "jetstream", "window": "1d"}
TOKENS = {"ann": "0123456789abcdef-ann", "bob": "0123456789abcdef-bob"}


class Browser:
    """Requests as a browser makes them, one after the other: cookies are kept, forms send their token."""

    def __init__(self, settings: StudioSettings, base: str = BASE, *, fails: bool = False) -> None:
        self.app = create_app(settings)
        self.cookies = httpx.Cookies()
        self.base, self.fails = base, fails

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=not self.fails)
            async with httpx.AsyncClient(transport=transport, base_url=self.base, cookies=self.cookies) as client:
                return await client.request(method, path, **options)

        response = anyio.run(send)
        self.cookies.update(response.cookies)
        return response

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.ask("GET", path, **options)

    def post(self, path: str, data: dict[str, Any] | None = None, **options: Any) -> httpx.Response:
        """A form, or JSON, with the token that the session asks for."""
        token = self.csrf()
        if "json" in options:
            return self.ask("POST", path, headers={"X-CSRF-Token": token}, **options)
        return self.ask("POST", path, data={"csrf": token} | (data or {}), **options)

    def csrf(self) -> str:
        return str(self.get("/api/v1/session").json()["csrf"])


Browse = Callable[..., Browser]
"""What the fixture `browse` is."""


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that tests only read."""
    return make_home(tmp_path_factory.mktemp("studio") / "home")


@pytest.fixture
def reader(shared_home: Path) -> Iterator[Browser]:
    browser = Browser(StudioSettings(shared_home, local_user="ann"))
    yield browser
    browser.app.state.studio.close()


@pytest.fixture
def browse(tmp_path: Path) -> Iterator[Browse]:
    """Opens a studio over an empty home, with settings as given."""
    opened: list[Browser] = []

    def browse_one(base: str = BASE, *, fails: bool = False, **settings: Any) -> Browser:
        given = {"home": tmp_path / "home", "local_user": "ann"} | settings
        opened.append(Browser(StudioSettings(**given), base, fails=fails))
        return opened[-1]

    yield browse_one
    for browser in opened:
        browser.app.state.studio.close()
