"""Progress callbacks as a bar in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from klda.interactive import bars
from klda.types import Progress, silent

console = Console(stderr=True)


def say(line: str) -> None:
    """Writes a line to standard error as it is, however long."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """A progress callback that draws one line a stage on standard error, or nothing where nobody watches."""
    if quiet or not console.is_terminal:
        yield silent
        return
    with bars(console) as report:
        yield report


@contextmanager
def starting(quiet: bool = False) -> Iterator[None]:
    """Shows that a command works while its libraries are loaded; nothing where nobody watches."""
    with progress_bar(quiet):
        yield
