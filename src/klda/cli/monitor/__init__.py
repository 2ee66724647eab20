"""The commands of `klda monitor`, grouped in files by subject."""

from __future__ import annotations

from collections.abc import Callable

import typer

from klda.cli.monitor.collect import collect, run
from klda.cli.monitor.create import create
from klda.cli.monitor.proposals import approve, edit, propose, reject, report
from klda.cli.monitor.show import history, list_all, show
from klda.cli.monitor.upkeep import close, delete, export, vacuum
from klda.cli.rules import monitor_rules

monitor = typer.Typer(
    name="monitor",
    help="Watch a stream week by week: collect, propose, decide. Needs klda[monitor].",
    no_args_is_help=True,
    rich_markup_mode=None,
)

COMMANDS: dict[str, Callable[..., None]] = {
    "create": create,
    "list": list_all,
    "show": show,
    "collect": collect,
    "run": run,
    "close": close,
    "propose": propose,
    "approve": approve,
    "reject": reject,
    "edit": edit,
    "history": history,
    "rules": monitor_rules,
    "report": report,
    "export": export,
    "vacuum": vacuum,
    "delete": delete,
}
"""In the order of the help."""

for name, command in COMMANDS.items():
    monitor.command(name)(command)
