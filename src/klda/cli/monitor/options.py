"""Options that the commands of a monitor share."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

Name = Annotated[str, typer.Argument(help="Name of the monitor.", show_default=False)]
Home = Annotated[
    Path,
    typer.Option("--home", envvar="KLDA_HOME", file_okay=False, help="Folder of all monitors; also from KLDA_HOME."),
]
ProposalId = Annotated[
    str | None, typer.Argument(help="Id of the proposal; the one that waits if left out.", show_default=False)
]
By = Annotated[str | None, typer.Option("--by", help="Who decides; your user name if left out.")]
Note = Annotated[str, typer.Option("--note", help="Why, for the history.")]

HOME = Path("monitors")


def identity(given: str | None) -> str:
    """Who gives the command."""
    return given or getpass.getuser()
