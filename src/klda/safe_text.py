"""Makes texts of strangers safe to show and to open as a table: no misleading characters, no formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_BROKEN = re.compile("[\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

TURNED = "⇄"
"""Shown in place of a character that changes the direction of a text."""


def visible(text: str) -> str:
    """The text with direction marks shown as signs, and without control characters.

    >>> visible("invoice\\u202egnp.exe\\x00")
    'invoice⇄gnp.exe'
    """
    if text.isascii() and text.isprintable():  # as nearly all is
        return text
    return _BROKEN.sub("\ufffd", _CONTROL.sub("", _BIDI.sub(TURNED, text)))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], *, line_end: str = "\r\n") -> str:
    """Rows as CSV; a cell that a spreadsheet would run as a formula becomes text.

    >>> csv_text(["text"], [["=1+1"], [-2]])
    "text\\r\\n'=1+1\\r\\n-2\\r\\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator=line_end)
    for row in [header, *rows]:
        writer.writerow([_defused(cell) for cell in row])
    return buffer.getvalue()


def _defused(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    shown = visible(cell)
    return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) else shown
