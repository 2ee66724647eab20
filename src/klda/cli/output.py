"""Output of commands: tables for people, JSON or CSV for programs, and notes and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from klda.cells import cell_text, is_number
from klda.interactive import bars
from klda.safe_text import csv_text, visible
from klda.types import Progress, silent

out = Console()


class Format(StrEnum):
    """Output formats of every command except `serve`."""

    table = "table"
    json = "json"


class ListFormat(StrEnum):
    """Output formats of commands that list things."""

    table = "table"
    json = "json"
    csv = "csv"


def print_json(value: Any) -> None:
    """Writes plain data as JSON to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows as CSV. Cells that a spreadsheet would run as a formula become text."""
    sys.stdout.write(csv_text(header, rows, line_end="\n"))


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, ids: Sequence[str] = ()) -> None:
    """Prints rows as a table that fits the terminal. Numbers are on the right, and markup in texts has no effect.

    Columns of `ids` are never broken over lines, so that they can be copied.
    """
    values = [list(row) for row in rows]
    body = [[_cell(value) for value in row] for row in values]
    out.print(Text(visible(title), style="bold"))
    table = Table(header_style="bold", expand=False)
    for i, name in enumerate(header):
        numeric = bool(body) and all(row[i].justify == "right" for row in body)
        # intervals and ids are not broken: other texts give way
        whole = name in ids or any(isinstance(row[i], Mapping) for row in values)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
    for row in body:
        table.add_row(*row)
    out.print(table)


def _cell(value: Any) -> Text:
    text = cell_text(value)
    if isinstance(value, Mapping):  # an estimate: its interval is on a second line, so that several fit side by side
        text = text.replace(" (", "\n").rstrip(")")
    return Text(text, justify="right" if is_number(value) else None)


console = Console(stderr=True)


def say(line: str) -> None:
    """Writes one line to standard error, without breaking it."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """A progress callback that draws one line a stage on standard error, or nothing if it is no terminal."""
    if quiet or not console.is_terminal:
        yield silent
        return
    with bars(console) as report:
        yield report


@contextmanager
def starting(quiet: bool = False) -> Iterator[None]:
    """Shows that a command is working while its libraries are loaded."""
    with progress_bar(quiet):
        yield
