"""`klda monitor delete`: the end of a monitor."""

from __future__ import annotations

from typing import Annotated

import typer

from klda.cli.monitor.options import HOME, Home, Name, identity
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    by: Annotated[str | None, typer.Option("--by", help="Who deletes it; your user name if left out.")] = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Delete a monitor for good: its posts, its records and its folder, wherever they lie."""
    from klda.errors import SettingError
    from klda.monitor.delete import delete as work
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        posts = monitor.records.volume.total()
        if not yes and output is Format.json:
            raise SettingError("--format json asks nothing; add --yes to delete the monitor")
        if not yes:
            typer.confirm(f"Delete monitor {name} with {posts:,} posts and its whole history?", abort=True)
        platform = monitor.settings.source["kind"]
        work(monitor, deleted_by=identity(by))
    if output is Format.json:
        print_json({"deleted": name, "posts": posts})
        return
    rules = "; its rules on X stay until they are removed there" if platform == "x" else ""
    out.print(f"Deleted: {name}, with {posts:,} posts{rules}", markup=False, highlight=False)
