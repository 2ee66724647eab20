"""What commands print: a table for people, JSON or CSV for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from klda.report.safe_text import csv_text, visible

out = Console()


class Format(StrEnum):
    """Forms in which every command but `serve` can answer."""

    table = "table"
    json = "json"


class ListFormat(StrEnum):
    """Forms in which commands that list things can answer."""

    table = "table"
    json = "json"
    csv = "csv"


def print_json(value: Any) -> None:
    """Writes plain data as JSON to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows as CSV; cells that a spreadsheet would run as a formula become text."""
    sys.stdout.write(csv_text(header, rows, line_end="\n"))


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, ids: Sequence[str] = ()) -> None:
    """Prints rows as a table that fits the terminal: numbers to the right, texts neither markup nor orders.

    Columns of `ids` are never broken over lines, so that they can be copied.
    """
    values = [list(row) for row in rows]
    body = [[_cell(value) for value in row] for row in values]
    out.print(Text(visible(title), style="bold"))
    table = Table(header_style="bold", expand=False)
    for i, name in enumerate(header):
        numeric = bool(body) and all(row[i].justify == "right" for row in body)
        # An interval is not broken, nor is an id: texts give way.
        whole = name in ids or any(isinstance(row[i], Mapping) for row in values)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
    for row in body:
        table.add_row(*row)
    out.print(table)


def estimate_text(value: Mapping[str, float | None] | None) -> str:
    """A mean with its interval.

    >>> estimate_text({"mean": 0.301, "low": 0.25, "high": 0.36}), estimate_text(None)
    ('0.30 (0.25–0.36)', '–')
    >>> estimate_text({"mean": 37, "low": 0, "high": 139})
    '37 (0–139)'
    """
    if value is None or value["mean"] is None:
        return "–"
    size = abs(value["mean"])
    digits = 0 if size >= 100 or isinstance(value["mean"], int) else 1 if size >= 10 else 2
    if value["low"] is None or value["high"] is None:
        return f"{value['mean']:.{digits}f}"
    to = "–" if value["low"] >= 0 else " to "
    return f"{value['mean']:.{digits}f} ({value['low']:.{digits}f}{to}{value['high']:.{digits}f})"


def _cell(value: Any) -> Text:
    if value is None:
        return Text("–", justify="right")
    if isinstance(value, Mapping):  # an estimate: its interval on a second line, so that several fit beside each other
        return Text(estimate_text(value).replace(" (", "\n").rstrip(")"), justify="right")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, int):
        return Text(f"{value:,}", justify="right")
    if isinstance(value, float):
        return Text(f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}", justify="right")
    return Text(visible(str(value)))
