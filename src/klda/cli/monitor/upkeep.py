"""`klda monitor close`, `export`, `vacuum` and `delete`: upkeep of what a monitor stores."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from klda.cli.options import HOME, Home, Name, OutputFormat
from klda.cli.output import Format, out, print_json

if TYPE_CHECKING:
    from klda.store.delta.stored_posts import StoredPosts


from klda.cli.options import identity


def close(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Close the windows that have ended. A second call changes nothing."""
    from klda.monitor.calendar import close as work
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        windows = work(monitor)
    if output is Format.json:
        print_json({"closed": [window.start.isoformat() for window in windows]})
        return
    out.print(f"Closed: {', '.join(map(str, windows)) or 'nothing'}", markup=False, highlight=False)


def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="File to write: .parquet, .jsonl or .csv.", show_default=False)],
    window: Annotated[str | None, typer.Option(help="A day in the window to export; all windows if left out.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="The unfiltered sample instead.")] = False,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Write the posts of one window, or of all, to a file that other klda commands can read."""
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
    """The number of posts written to a CSV file. Lists are joined with commas, and no cell runs as a formula."""
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


def vacuum(
    name: Name,
    older_than: Annotated[
        str | None,
        typer.Option(
            help="Delete windows that ended longer ago than this, such as 180d; default: the setting retention."
        ),
    ] = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Forget deleted posts and old windows. A running collector does this every day."""
    from klda.errors import SettingError
    from klda.monitor.forget import vacuum as work
    from klda.monitor.monitor import opened
    from klda.text.windows import parse_length

    if older_than is not None:
        try:
            parse_length(older_than)
        except SettingError as error:
            raise SettingError(f"--older-than {older_than!r}: give a number and a unit, as in 180d or 26w") from error
    with opened(home, name) as monitor:
        forgotten = work(monitor, older_than)
    windows = [str(window) for window in forgotten.windows]
    if output is Format.json:
        print_json({"posts": forgotten.posts, "windows": windows, "files": forgotten.files})
        return
    out.print(
        f"Forgotten: {forgotten.posts:,} deleted posts, {len(windows)} old windows, {forgotten.files} files",
        markup=False,
        highlight=False,
    )


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    by: Annotated[str | None, typer.Option("--by", help="Who deletes it; your user name if left out.")] = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Delete a monitor for good, with its posts, its records and its folder."""
    from klda.errors import SettingError
    from klda.monitor.forget import delete as work
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        posts = monitor.records.volume.total()
        if not yes and output is Format.json:
            raise SettingError("--format json cannot ask; add --yes to delete the monitor")
        if not yes:
            typer.confirm(f"Delete monitor {name} with {posts:,} posts and its whole history?", abort=True)
        platform = monitor.settings.source["kind"]
        work(monitor, deleted_by=identity(by))
    if output is Format.json:
        print_json({"deleted": name, "posts": posts})
        return
    rules = "; its rules on X remain until somebody removes them there" if platform == "x" else ""
    out.print(f"Deleted: {name}, with {posts:,} posts{rules}", markup=False, highlight=False)
