"""Progress for people: a bar in notebooks and interactive sessions, nothing in scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TextIO

from klda.types import Progress, silent

if TYPE_CHECKING:
    from rich.console import Console

STARTING = "starting"
"""What is shown until there is something to tell."""
_BAR_WIDTH = 24
_drawing = False


@contextmanager
def shown(progress: Progress | None) -> Iterator[Progress]:
    """The given callback. Without one: a bar in interactive sessions, and nothing in scripts.

    Work within work that shows a bar already shows none of its own.

    >>> with shown(None) as report:
    ...     report is silent
    True
    """
    global _drawing
    if progress is not None or _drawing or not is_interactive():
        yield progress or silent
        return
    from rich.console import Console

    _drawing = True
    try:
        console = Console(stderr=True)
        if console.is_jupyter and find_spec("ipywidgets") is None:
            with line(sys.stderr) as report:
                yield report
        elif console.is_jupyter or console.is_terminal:
            with bars(console) as report:
                yield report
        else:
            yield silent
    finally:
        _drawing = False


def is_interactive() -> bool:
    """Whether this is a notebook or a Python prompt, where a person waits for each answer."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        return True
    return hasattr(sys, "ps1")


@contextmanager
def bars(console: Console) -> Iterator[Progress]:
    """A progress callback that draws one line a stage."""
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

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=_BAR_WIDTH),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", style="dim"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=console, transient=True) as drawn:
        tasks: dict[str, TaskID] = {}
        waiting = drawn.add_task(STARTING, total=None, facts="")
        drawn.refresh()

        def report(stage: str, done: int, total: int | None = None, **facts: float) -> None:
            text = _facts(facts)
            if not tasks:
                drawn.remove_task(waiting)
            if stage not in tasks:
                tasks[stage] = drawn.add_task(stage, total=total, facts=text)
            drawn.update(tasks[stage], completed=done, total=total, facts=text)

        yield report


@contextmanager
def line(file: TextIO) -> Iterator[Progress]:
    """A progress callback that writes one line over and over, for notebooks that cannot draw more."""
    longest = 0

    def report(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        nonlocal longest
        parts = [stage, f"{done:,}/{total:,}" if total else f"{done:,}", _facts(facts)]
        if total:
            full = _BAR_WIDTH * min(done, total) // total
            parts.insert(1, f"|{'█' * full}{' ' * (_BAR_WIDTH - full)}|")
        text = " ".join(filter(None, parts))
        longest = max(longest, len(text))
        file.write(f"\r{text.ljust(longest)}")
        file.flush()

    try:
        yield report
    finally:
        file.write(f"\r{' ' * longest}\r")
        file.flush()


def _facts(facts: dict[str, float]) -> str:
    return " ".join(f"{name.replace('_', ' ')} {value:,.4g}" for name, value in facts.items())
