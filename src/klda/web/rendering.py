"""Renders pages from templates. Posts may be hostile, so everything that a template prints is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse

from klda.report.charts.theme import Spec, themed
from klda.report.templating import cleaned
from klda.report.templating import environment as templates
from klda.report.wording import marked
from klda.safe_text import visible
from klda.types import Keyword, KeywordSet
from klda.web.assets import address, assets

_LINK = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]]+", re.IGNORECASE)

MOST_SHOWN = 5_000
"""Characters of a post that are shown. A hostile post may have millions."""


class Piece(NamedTuple):
    """A part of a post: plain text, a match of a keyword, or a link."""

    text: str
    kind: Literal["plain", "match", "link"]


def pieces(text: str, keywords: Iterable[str | Keyword] = ()) -> list[Piece]:
    """The parts of a post: links to http and https, matches of keywords, and the text between them.

    Only the beginning of a very long post is shown.

    >>> pieces("See https://example.org, javascript:alert(1)")
    [Piece(text='See ', kind='plain'), Piece(text='https://example.org', kind='link'), \
Piece(text=', javascript:alert(1)', kind='plain')]
    """
    wanted = KeywordSet.of(*keywords)
    any_of_them = Keyword("any", tuple(form for k in wanted for form in k.forms)) if len(wanted) else None
    text = text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"
    text, found, at = visible(text), list[Piece](), 0
    for link in _LINK.finditer(text):
        target = link[0].rstrip(".,;:!?…)")
        found += [*_plain(text[at : link.start()], any_of_them), Piece(target, "link")]
        at = link.start() + len(target)
    return [*found, *_plain(text[at:], any_of_them)]


@lru_cache(maxsize=4_096)
def _plain(text: str, keyword: Keyword | None) -> tuple[Piece, ...]:
    """The parts of a text without links. They are cached, because the same examples are shown again and again."""
    if not text:
        return ()
    if keyword is None:
        return (Piece(text, "plain"),)
    return tuple(Piece(part, "match" if hit else "plain") for part, hit in marked(text, keyword))


def render(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **content: Any
) -> HTMLResponse:
    """A page. Templates also see `csrf`, `identity`, `needs_token`, and `here` (the requested path)."""
    state = request.scope.get("state", {})
    given = {
        "csrf": state.get("csrf", ""),
        "identity": state.get("identity"),
        "needs_token": request.app.state.studio.settings.needs_token if "app" in request.scope else True,
        "here": request.url.path,
    }
    html = environment().get_template(template).render(given | content)
    return HTMLResponse(html, status, dict(headers or {}))


@cache
def environment() -> Environment:
    """The templates, with all functions that they may call."""
    made = templates("klda.web")
    made.globals |= {"asset": address, "version": version("klda"), "now": lambda: datetime.now(UTC)}
    made.filters |= {
        "pieces": pieces,
        "spec": spec,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "iso": iso,
        "utc": utc,
    }
    return made


def prepare() -> None:
    """Compiles all templates and compresses static files, so that the first reader need not wait."""
    assets()
    for name in environment().list_templates():
        environment().get_template(name)


def spec(picture: Spec) -> Spec:
    """A chart for a page: colours follow the theme, and its texts contain no deceptive characters."""
    shown: Spec = cleaned(themed(picture))
    return shown


def iso(time: datetime | str) -> str:
    """A time as machines read it.

    >>> iso(datetime(2026, 1, 5, tzinfo=UTC))
    '2026-01-05T00:00:00Z'
    """
    moment = datetime.fromisoformat(time) if isinstance(time, str) else time
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def utc(time: datetime | str) -> str:
    """A time as the page shows it before a script converts it to the reader's zone.

    >>> utc("2026-01-05T00:00:00Z")
    '5 Jan 2026, 00:00 UTC'
    """
    moment = (datetime.fromisoformat(time) if isinstance(time, str) else time).astimezone(UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"
