"""`klda monitor report`: a proposal as one HTML file, which is withdrawn when a post that it shows is deleted."""

from __future__ import annotations

from klda.cli.monitor.options import HOME, Home, Name, ProposalId
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json
from klda.cli.progress import progress_bar


def report(name: Name, proposal: ProposalId = None, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Write a report on a proposal into the monitor's folder; it goes when a post in it is deleted at its source."""
    from klda.monitor.choices import with_choices
    from klda.monitor.decide import chosen
    from klda.monitor.monitor import opened
    from klda.monitor.reports import report_path, report_window
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
