"""`klda monitor approve`, `reject` and `edit`: what people decide about a proposal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from klda.cli.arguments import parse_keywords
from klda.cli.monitor.options import HOME, By, Home, Name, Note, ProposalId, identity
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json

if TYPE_CHECKING:
    from klda.store import Decision


def approve(
    name: Name,
    proposal: ProposalId = None,
    by: By = None,
    note: Note = "",
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Use the proposed list; a running collector follows within seconds."""
    from klda.monitor.decide import approve as work

    _decide(work, home, name, output, proposal=proposal, decided_by=identity(by), note=note)


def reject(
    name: Name,
    proposal: ProposalId = None,
    by: By = None,
    note: Note = "",
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Leave the list as it is."""
    from klda.monitor.decide import reject as work

    _decide(work, home, name, output, proposal=proposal, decided_by=identity(by), note=note)


def edit(
    name: Name,
    keywords: Annotated[str, typer.Option("--keywords", "-k", help="The whole list to use instead, or @file.")],
    proposal: ProposalId = None,
    by: By = None,
    note: Note = "",
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Use another list in place of the proposed one."""
    from klda.monitor.decide import edit as work

    chosen = parse_keywords(keywords)
    _decide(work, home, name, output, keywords=chosen, proposal=proposal, decided_by=identity(by), note=note)


def _decide(work: Callable[..., Decision], home: Path, name: str, output: Format, **choice: Any) -> None:
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        decision = work(monitor, **choice)
    _tell(decision, output)


def _tell(decision: Decision, output: Format) -> None:
    if output is Format.json:
        print_json(
            {
                "verdict": decision.verdict,
                "decided_by": decision.decided_by,
                "made": decision.made.isoformat(),
                "note": decision.note,
                "keywords": list(decision.keywords.texts),
            }
        )
        return
    out.print(f"The keywords are: {', '.join(decision.keywords.texts)}", markup=False, highlight=False)
