"""`klda backtest`: replays an archive and shows which policy gives the best advice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from klda.cli import options as o
from klda.cli.archives import list_sizes, open_replay, policy_names, windows_to_test
from klda.cli.arguments import check_files, check_local, check_output, parse_mapping
from klda.cli.output import Format, console, out, print_json, print_table, progress_bar, starting
from klda.errors import SettingError

if TYPE_CHECKING:
    from klda.evaluation.backtest import Map


NAME_WIDTH = 14
"""Letters of a policy's name that fit on one line beside five intervals in 80 columns."""


def backtest(
    archive: o.Files,
    subjects: o.Subjects,
    split: o.Split = None,
    policies: Annotated[
        str,
        typer.Option("--policies", "-p", help="Policies to compare, comma-separated; all means all but klda-paper."),
    ] = "all",
    weeks: o.Weeks = 10,
    test_weeks: o.TestWeeks = "4",
    top: o.ListSizes = "2,3",
    closed_loop: Annotated[
        bool,
        typer.Option("--closed-loop", help="Closed loop: from week 1 on, each policy decides which posts are seen."),
    ] = False,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="Judge the next list by labels; all earlier posts are known.")
    ] = False,
    history: Annotated[
        str, typer.Option(help="What collected the history: viral, static (the first list) or full (all candidates).")
    ] = "viral",
    candidates: o.CaseSize = 45,
    terms: Annotated[int, typer.Option(min=1, help="Closed loop: most terms of a list.")] = 10,
    sample: Annotated[
        float, typer.Option(min=0, max=1, help="Closed loop: share of the stream to see unfiltered.")
    ] = 0.0,
    training: o.TrainingPosts = None,
    window: o.WindowLength = "7d",
    language: o.Language = "en",
    reposts: o.Reposts = True,
    mapping: o.Mapping = None,
    timezone: o.Timezone = None,
    date_format: o.DateFormat = None,
    workers: o.Processes = None,
    work: o.Work = None,
    report: Annotated[Path | None, typer.Option(help="Also write a report, one HTML file.")] = None,
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    output: o.OutputFormat = Format.table,
    seed: o.Seed = 0,
) -> None:
    """Judge policies on an archive: by the paper's open loop, by the labels of the next week, or in a closed loop."""
    check_files(*archive, subjects, training)
    with starting(quiet=output is Format.json):
        from klda.cli.inputs import Reading
        from klda.evaluation.backtest import BacktestSettings
        from klda.evaluation.comparison import Loop, compared, with_yardsticks
        from klda.evaluation.open_loop import HISTORIES
        from klda.evaluation.subjects import load_subjects

    if history not in HISTORIES:
        raise SettingError(f"--history {history!r}: choose {', '.join(HISTORIES)}")
    if closed_loop and labelled:
        raise SettingError("--closed-loop and --labelled are two kinds of backtest; choose one")
    if labelled and report is not None:
        raise SettingError("--report: there is no report of a labelled backtest; leave it out or choose --format json")
    check_output(report, "--report")
    chosen = load_subjects(subjects, split)
    reading = Reading(parse_mapping(mapping or []), reposts, None, timezone, date_format=date_format)
    with progress_bar(quiet=output is Format.json) as progress:
        place = work and work.resolve()  # tasks may run in another folder
        replay = open_replay(
            archive, chosen, reading, window, language=language, work=place, training=training, progress=progress
        )
        names = policy_names(policies, labels=closed_loop or labelled)
        loop: Loop = "closed" if closed_loop else "labelled" if labelled else "open"
        settings = BacktestSettings(
            policies=with_yardsticks(names, loop),
            loop=loop,
            weeks=weeks,
            tops=list_sizes(top),
            history=history,
            n_candidates=candidates,
            max_terms=terms,
            sample_rate=sample,
            training=replay.training,
            seed=seed,
        )
        windows = [] if closed_loop else windows_to_test(test_weeks, replay.archive)  # a closed loop runs through all
        try:
            with _spread(engine, address, workers) as spread:
                summary = compared(
                    replay.archive,
                    replay.corpus,
                    replay.results(settings),
                    chosen,
                    settings,
                    names,
                    windows,
                    map=spread,
                    progress=progress,
                )
        except KeyboardInterrupt:
            console.print("Interrupted. Finished cases are kept. The same command continues.", markup=False)
            raise typer.Exit(130) from None
    if report is not None:
        from klda.report.backtest_report import write_backtest

        write_backtest(summary, report, title=f"Backtest of {', '.join(p.name for p in archive)}")
    if output is Format.json:
        print_json(summary)
    elif closed_loop:
        _print_closed(summary)
    elif labelled:
        _print_labelled(summary)
    else:
        _print_open(summary)
    if output is not Format.json:
        out.print(summary["verdict"], style="bold", markup=False, highlight=False)


@contextmanager
def _spread(engine: o.Engine, address: str | None, workers: int | None) -> Iterator[Map]:
    """Yields the function that spreads cases, over processes of this machine or tasks of a Ray cluster."""
    if engine is o.Engine.local:
        from klda.evaluation.parallel import process_map

        check_local(address)
        yield process_map(workers)
        return
    from klda.cli.on_ray import on_ray

    with on_ray(address, workers):
        from klda.ray.cluster import task_map

        yield task_map()


def _print_open(summary: dict[str, Any]) -> None:
    from klda.evaluation.backtest_tables import n_cases, open_tables

    for table in open_tables(summary):
        print_table(table.title, table.columns, table.rows)
    print_unanswered(summary["unanswered"])
    if summary["n_left_out"]:
        few = n_cases({"n_cases": summary["n_left_out"]})
        out.print(f"Left out for fewer than 30 frequent candidates: {few}.", style="dim", highlight=False)
    out.print(f"Intervals are 95 %; {summary['n_comparisons']} comparisons of pairs are in the JSON.", style="dim")


def _print_closed(summary: dict[str, Any]) -> None:
    from klda.evaluation.backtest_tables import closed_tables

    for table in closed_tables(summary):
        print_table(table.title, table.columns, [(_at_hyphens(str(name)), *row) for name, *row in table.rows])
    out.print("Intervals are 95 %.", style="dim", highlight=False)


def _print_labelled(summary: dict[str, Any]) -> None:
    from klda.evaluation.backtest_tables import labelled_tables

    for table in labelled_tables(summary):
        print_table(table.title, table.columns, [(_at_hyphens(str(name)), *row) for name, *row in table.rows])
    print_unanswered(summary["unanswered"])
    pairs = f"{summary['n_comparisons']} comparisons of pairs are in the JSON"
    out.print(f"Intervals are 95 %; {pairs}.", style="dim", highlight=False)


def print_unanswered(unanswered: dict[str, Any]) -> None:
    """Prints which policies could not answer all cases, and why. A policy without any answer is in no table."""

    for name, told in unanswered.items():
        answered = (
            f"{name} answered {told['answered']} of {told['cases']:,} {'case' if told['cases'] == 1 else 'cases'}"
        )
        out.print(f"{answered}: {told['error']}", style="dim", markup=False, highlight=False)


def _at_hyphens(name: str) -> str:
    """A long name on several lines, broken after hyphens, so that the columns of numbers fit.

    >>> _at_hyphens("labels-next-week-singly").splitlines()
    ['labels-next-', 'week-singly']
    """
    return "\n".join(wrap(name, NAME_WIDTH, break_long_words=False))
