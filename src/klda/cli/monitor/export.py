"""`klda monitor export`: stored posts as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json


def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="File to write: .parquet or .jsonl.", show_default=False)],
    window: Annotated[str | None, typer.Option(help="A day in the window to export; all windows if left out.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="The unfiltered sample instead.")] = False,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Write posts of one window, or of all, to a file that every command of klda reads."""
    from klda.monitor.export import export as work
    from klda.monitor.export import window_at
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        posts = work(monitor, path, None if window is None else window_at(monitor, window), sample=sample)
    if output is Format.json:
        print_json({"file": str(path), "posts": posts})
        return
    out.print(f"{posts:,} posts in {path}", markup=False, highlight=False)
