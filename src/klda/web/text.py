"""Posts of strangers in parts that a page can show: what matches is marked, and only plain links are links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from klda.report.phrases import marked
from klda.report.safe_text import visible
from klda.types import Keyword, KeywordSet

_LINK = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]]+", re.IGNORECASE)

MOST_SHOWN = 5_000
"""Characters of a post that are shown; a hostile one may have millions."""


class Piece(NamedTuple):
    """A part of a post: plain, a keyword's match, or a link."""

    text: str
    kind: Literal["plain", "match", "link"]


def pieces(text: str, keywords: Iterable[str | Keyword] = ()) -> list[Piece]:
    """A post in parts: links that lead to http and https, matches of keywords, and what lies between.

    Of a very long post only the beginning is shown.

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
    """The parts of a text without links; held, as the same examples are shown again and again."""
    if not text:
        return ()
    if keyword is None:
        return (Piece(text, "plain"),)
    return tuple(Piece(part, "match" if hit else "plain") for part, hit in marked(text, keyword))
