"""`klda monitor rules`: a monitor's keywords as its platform takes them."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format
from klda.cli.rules import PlatformName, print_rules
from klda.streams.platform_rules import Platform


def rules(
    name: Name,
    proposal: Annotated[
        str | None, typer.Argument(help="The step to this proposal's list; the active list if left out.")
    ] = None,
    platform: Annotated[
        PlatformName | None,
        typer.Option("--platform", "--for", help="Platform or tool whose rules to write; if left out, the source's."),
    ] = None,
    home: Home = HOME,
    output: OutputFormat = Format.json,
) -> None:
    """Write the active list, or the step to a proposed one, as rules ready to apply."""
    from klda.monitor.monitor import opened
    from klda.monitor.rules import rules as work

    with opened(home, name) as monitor:
        made = work(monitor, None if platform is None else cast(Platform, platform.value), proposal)
    print_rules(made, output)
