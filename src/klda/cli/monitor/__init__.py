"""`klda monitor …`: one file a command, or a few that belong together."""

from __future__ import annotations

import typer

from klda.cli.monitor.close import close
from klda.cli.monitor.collect import collect, run
from klda.cli.monitor.create import create
from klda.cli.monitor.decide import approve, edit, reject
from klda.cli.monitor.delete import delete
from klda.cli.monitor.export import export
from klda.cli.monitor.history import history
from klda.cli.monitor.propose import propose
from klda.cli.monitor.report import report
from klda.cli.monitor.rules import rules
from klda.cli.monitor.show import list_all, show
from klda.cli.monitor.vacuum import vacuum

monitor = typer.Typer(
    name="monitor",
    help="Watch a stream week by week: collect, propose, decide. Needs klda[monitor].",
    no_args_is_help=True,
    rich_markup_mode=None,
)

monitor.command()(create)
monitor.command("list")(list_all)
COMMANDS = (show, collect, run, close, propose, approve, reject, edit, history, rules, report, export, vacuum, delete)
for command in COMMANDS:
    monitor.command()(command)
