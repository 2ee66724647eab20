"""The command `klda`: collects all commands, and handles their errors in one place."""

from __future__ import annotations

import errno
import sys
import warnings
from typing import Annotated

import typer

import klda
from klda.cli.arguments import BareBudget
from klda.cli.backtest import backtest
from klda.cli.monitor import monitor
from klda.cli.output import console
from klda.cli.prepare import prepare
from klda.cli.recommend import policies, recommend
from klda.cli.rules import rules
from klda.cli.serve import serve
from klda.cli.simulate import simulate
from klda.cli.study import study
from klda.cli.train import topics, train
from klda.errors import KldaError, TrainingWarning

app = typer.Typer(
    name="klda",
    help="Which keywords to follow next, and why.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"klda {klda.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Which keywords to follow next, and why."""


app.command(cls=BareBudget)(recommend)
for command in (rules, policies, backtest, study, prepare, train, topics, simulate, serve):
    app.command()(command)


app.add_typer(monitor)


def main() -> None:
    """Runs the command line. Each of our errors becomes one line and an exit code."""
    warnings.simplefilter("ignore", TrainingWarning)  # commands print these warnings themselves
    try:
        app()
    except KldaError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:
        if _is_full(error):
            where = f"{error.filename}: " if error.filename else ""
            _say(f"{where}the disk is full; free some space for the output and for temporary files (TMPDIR)")
            sys.exit(KldaError.exit_code)
        if error.filename is None:  # no file that somebody named: a bug, and the traceback helps
            raise
        _say(f"{error.filename}: {error.strerror}; check the path, its permissions and the free space on the disk")
        sys.exit(KldaError.exit_code)


def _is_full(error: OSError) -> bool:
    """Whether the disk or the quota is full. Libraries rarely name the file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)


def _say(error: str) -> None:
    console.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
