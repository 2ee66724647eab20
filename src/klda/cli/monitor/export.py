"""`klda monitor export`: stored posts as a file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json

if TYPE_CHECKING:
    from klda.store.delta.stored_posts import StoredPosts


def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="File to write: .parquet, .jsonl or .csv.", show_default=False)],
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
        chosen = None if window is None else window_at(monitor, window)
        posts = work(monitor, path, chosen, sample=sample, others={".csv": _write_csv})
    if output is Format.json:
        print_json({"file": str(path), "posts": posts})
        return
    out.print(f"{posts:,} posts in {path}", markup=False, highlight=False, soft_wrap=True)


def _write_csv(posts: StoredPosts, path: Path) -> int:
    """Writes posts as a table for spreadsheets: lists are put together with commas, nothing is run as a formula."""
    from klda.safe_text import csv_text
    from klda.store.delta.stored_posts import EXPORTED

    written = 0
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        file.write(csv_text(EXPORTED.names, ()))
        for batch in posts.rows(EXPORTED):
            rows = ([_cell(value) for value in row.values()] for row in batch.to_pylist())
            file.write("".join(csv_text((), [row]).removeprefix("\r\n") for row in rows))
            written += batch.num_rows
    return written


def _cell(value: object) -> object:
    """A value as a cell of a table."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value.isoformat() if isinstance(value, datetime) else value
