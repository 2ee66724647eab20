"""`klda monitor propose`: the next keyword list, from the windows that have closed."""

from __future__ import annotations

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, ListFormat, out, print_json
from klda.cli.progress import progress_bar


def propose(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Propose the next keyword list; it waits for approve, edit or reject, in place of an earlier one."""
    from klda.cli.recommend import show
    from klda.monitor.monitor import opened
    from klda.monitor.propose import propose as work

    with opened(home, name) as monitor, progress_bar(quiet=output is Format.json) as progress:
        saved = work(monitor, progress=progress)
    if output is Format.json:
        print_json({"id": saved.id, "flags": list(saved.flags)} | saved.proposal.to_dict())
        return
    show(saved.proposal, ListFormat.table)
    for flag in saved.flags:
        out.print(f"Flagged: {flag}", style="red", markup=False, highlight=False)
    out.print(f"Waits: klda monitor approve {name} {saved.id}", markup=False, highlight=False)
