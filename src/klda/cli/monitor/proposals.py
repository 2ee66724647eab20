"""`klda monitor propose`, `report`, `approve`, `reject` and `edit`: proposals, and what people decide about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from klda.cli.arguments import parse_keywords
from klda.cli.options import HOME, By, Home, Name, Note, OutputFormat, ProposalId, identity
from klda.cli.output import Format, ListFormat, out, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from klda.store import Decision, SavedProposal


def propose(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Propose the next keyword list; it waits for approve, edit or reject, in place of an earlier one."""
    from klda.monitor.monitor import opened
    from klda.monitor.propose import propose as work

    with opened(home, name) as monitor, progress_bar(quiet=output is Format.json) as progress:
        saved = work(monitor, progress=progress)
    if output is Format.json:
        print_json({"id": saved.id, "flags": list(saved.flags)} | saved.proposal.to_dict())
        return
    show_waiting(name, saved)


def show_waiting(name: str, saved: SavedProposal) -> None:
    """Prints a waiting proposal: example posts, flags, and the command to decide about it."""
    from klda.cli.recommend import show

    show(saved.proposal, ListFormat.table)
    examples = [
        (r.keyword.text, r.examples[0].text) for r in saved.proposal.reasons if r.action != "keep" and r.examples
    ]
    if examples:
        print_table("For example", ("keyword", "post"), examples)
    for flag in saved.flags:
        out.print(f"Flagged: {flag}", style="red", markup=False, highlight=False)
    verdict = "approve" if saved.proposal.next_keywords else "reject"  # an empty list cannot be approved
    waits = f"Proposal {saved.id} waits for your decision: klda monitor {verdict} {name} {saved.id}"
    out.print(waits, markup=False, highlight=False, soft_wrap=True)


def report(name: Name, proposal: ProposalId = None, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Write a report on a proposal into the monitor's folder; it is deleted with any post that it shows."""
    from klda.monitor.decide import chosen
    from klda.monitor.forget import report_path, report_window
    from klda.monitor.monitor import opened
    from klda.monitor.saved_choices import with_choices
    from klda.monitor.training_data import learning
    from klda.report.proposal_report import write_report

    with opened(home, name) as monitor, progress_bar(quiet=output is Format.json) as progress:
        saved = chosen(monitor, proposal)
        corpus = learning(monitor, report_window(monitor, saved), progress=progress).corpus
        path, settings = report_path(monitor, saved), monitor.settings
        path.parent.mkdir(exist_ok=True)
        write_report(
            with_choices(monitor, saved),
            corpus,
            path,
            subject=settings.subject,
            budget=settings.budget.budget(),
            seed=settings.seed,
            progress=progress,
        )
    if output is Format.json:
        print_json({"proposal": saved.id, "path": str(path)})
        return
    out.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)


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
