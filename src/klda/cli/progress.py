"""Progress callbacks as a bar in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from klda.types import Progress, silent

console = Console(stderr=True)
STARTING = "starting"
"""What is shown until there is something to tell."""


def say(line: str) -> None:
    """Writes a line to standard error as it is, however long."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """A progress callback that draws one line a stage on standard error, or nothing where nobody watches."""
    if quiet or not console.is_terminal:
        yield silent
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", style="dim"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}
        waiting = bars.add_task(STARTING, total=None, facts="")
        bars.refresh()

        def report(stage: str, done: int, total: int | None = None, **facts: float) -> None:
            shown = " ".join(f"{name.replace('_', ' ')} {value:,.4g}" for name, value in facts.items())
            if not tasks:
                bars.remove_task(waiting)
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, facts=shown)
            bars.update(tasks[stage], completed=done, total=total, facts=shown)

        yield report


@contextmanager
def starting(quiet: bool = False) -> Iterator[None]:
    """Shows that a command works while its libraries are loaded; nothing where nobody watches."""
    with progress_bar(quiet):
        yield
