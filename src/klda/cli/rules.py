"""`klda rules` and `klda monitor rules`: a keyword list as rules of a platform."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import typer

from klda.advice.proposal import read_proposal
from klda.cli.arguments import parse_keywords
from klda.cli.options import HOME, Adjacent, Home, Name, OutputFormat
from klda.cli.output import Format, out, print_json, print_table
from klda.streams.boolean_queries import TOOLS
from klda.streams.platform_rules import PLATFORMS, Platform, Rules, platform_rules
from klda.types import KeywordSet

PlatformName = StrEnum("PlatformName", {name.replace("-", "_"): name for name in PLATFORMS})  # type: ignore[misc]


def rules(
    proposal: Annotated[Path, typer.Argument(help="Proposal as JSON, from klda recommend --save.", show_default=False)],
    platform: Annotated[
        PlatformName, typer.Option("--platform", "--for", help="Platform or tool whose rules to write.")
    ],
    diff: Annotated[
        str | None,
        typer.Option(help="The list in use now: a proposal file, or keywords written like --keywords."),
    ] = None,
    adjacent: Adjacent = False,
    output: OutputFormat = Format.json,
) -> None:
    """Write a proposed list as rules ready to apply, within the platform's limits."""
    wanted = read_proposal(proposal).next_keywords
    current = None if diff is None else _in_force(diff)
    print_rules(platform_rules(wanted, cast(Platform, platform.value), current=current, adjacent=adjacent), output)


def monitor_rules(
    name: Name,
    proposal: Annotated[
        str | None, typer.Argument(help="Proposal: write the change to its list; the active list if left out.")
    ] = None,
    platform: Annotated[
        PlatformName | None,
        typer.Option("--platform", "--for", help="Platform or tool whose rules to write; if left out, the source's."),
    ] = None,
    home: Home = HOME,
    output: OutputFormat = Format.json,
) -> None:
    """Write the active list, or the change to a proposed one, as rules ready to apply."""
    from klda.monitor.monitor import opened
    from klda.monitor.rules import rules as work

    with opened(home, name) as monitor:
        made = work(monitor, None if platform is None else cast(Platform, platform.value), proposal)
    print_rules(made, output)


def print_rules(made: Rules, output: Format) -> None:
    """Prints rules."""
    if output is Format.json:
        print_json(made.to_dict())
        return
    rows = [("add" if t in made.add else "keep", t) for t in made.terms] + [("remove", t) for t in made.remove]
    print_table(f"{len(made.terms)} terms for {made.platform}", ("", "term"), rows)
    if made.platform in TOOLS:
        out.print(made.text, markup=False, highlight=False, soft_wrap=True)
    for note in made.notes:
        out.print(f"Note: {note}", style="dim", markup=False, highlight=False)


def _in_force(text: str) -> KeywordSet:
    path = Path(text)
    return read_proposal(path).next_keywords if path.suffix == ".json" else parse_keywords(text, "--diff")
