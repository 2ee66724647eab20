"""Texts of strangers made safe to show: what would trick the eye is made visible, and only plain links are links."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from klda.report.phrases import marked
from klda.types import Keyword, KeywordSet

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_BROKEN = re.compile("[\ud800-\udfff]")
_LINK = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]]+", re.IGNORECASE)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

MOST_SHOWN = 5_000
"""Characters of a post that are shown; a hostile one may have millions."""
TURNED = "⇄"
"""Stands where a text would have turned its own direction."""


def visible(text: str) -> str:
    """The text with direction marks shown as signs, and without what only breaks things.

    >>> visible("invoice\\u202egnp.exe\\x00")
    'invoice⇄gnp.exe'
    """
    if text.isascii() and text.isprintable():  # as nearly all is
        return text
    return _BROKEN.sub("\ufffd", _CONTROL.sub("", _BIDI.sub(TURNED, text)))


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


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; a cell that a spreadsheet would run as a formula becomes text.

    >>> csv_text(["text"], [["=1+1"], [-2]])
    "text\\r\\n'=1+1\\r\\n-2\\r\\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for row in [header, *rows]:
        writer.writerow([_defused(cell) for cell in row])
    return buffer.getvalue()


def _defused(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    shown = visible(cell)
    return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) else shown
