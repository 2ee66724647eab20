"""`klda monitor propose`: the next keyword list, from the windows that have closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, ListFormat, out, print_json, print_table
from klda.cli.progress import progress_bar

if TYPE_CHECKING:
    from klda.store import SavedProposal


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
    """Prints a proposal that waits, posts with what changes, what stands against it, and how to decide about it."""
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
