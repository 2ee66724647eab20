"""`klda monitor vacuum`: forget what was deleted at its source, or is older than it may be."""

from __future__ import annotations

from typing import Annotated

import typer

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json


def vacuum(
    name: Name,
    older_than: Annotated[
        str | None,
        typer.Option(
            help="Drop windows that ended longer ago than this, such as 180d; the setting retention if left out."
        ),
    ] = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Forget deleted posts and old windows; a running collector does it every day by itself."""
    from klda.errors import SettingError
    from klda.monitor.monitor import opened
    from klda.monitor.vacuum import vacuum as work
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
