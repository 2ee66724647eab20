"""`klda study`: the paper's tables, perplexity, or the choice of a divergence, on any archive."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from klda.cli import options as o
from klda.cli.archives import list_sizes, open_replay, policy_names, windows_to_test
from klda.cli.arguments import check_files, parse_mapping
from klda.cli.backtest import print_unanswered
from klda.cli.output import Format, console, out, print_json, print_table, progress_bar, starting


class StudyName(StrEnum):
    """Names of the studies."""

    tables = "tables"
    perplexity = "perplexity"
    divergence = "divergence"


class HistoryName(StrEnum):
    """Lists that collected the history."""

    viral = "viral"
    static = "static"
    full = "full"


def study(
    archive: o.Files,
    subjects: o.Subjects,
    study: Annotated[StudyName, typer.Option(help="Which study.")] = StudyName.tables,
    split: o.Split = None,
    policies: Annotated[
        str, typer.Option("--policies", "-p", help="Policies whose advice the tables show.")
    ] = "klda,viral",
    weeks: o.Weeks = 10,
    test_weeks: o.TestWeeks = "1",
    top: o.ListSizes = "2,3",
    history: Annotated[HistoryName, typer.Option(help="What collected the history.")] = HistoryName.viral,
    candidates: o.CaseSize = 45,
    training: o.TrainingPosts = None,
    window: o.WindowLength = "7d",
    language: o.Language = "en",
    reposts: o.Reposts = True,
    mapping: o.Mapping = None,
    timezone: o.Timezone = None,
    date_format: o.DateFormat = None,
    workers: o.Processes = None,
    work: o.Work = None,
    output: o.OutputFormat = Format.table,
    seed: o.Seed = 0,
) -> None:
    """Repeat a study of the paper on an archive. Results of a backtest with the same settings are reused."""
    check_files(*archive, subjects, training)
    with starting(quiet=output is Format.json):
        from klda.cli.inputs import Reading
        from klda.evaluation.backtest import BacktestSettings, tasks
        from klda.evaluation.parallel import process_map
        from klda.evaluation.studies import StudyTask, run_study
        from klda.evaluation.study_tables import study_tables
        from klda.evaluation.subjects import load_subjects
        from klda.evaluation.summary import unanswered

    chosen = load_subjects(subjects, split)
    names = policy_names(policies)
    reading = Reading(parse_mapping(mapping or []), reposts, None, timezone, date_format=date_format)
    with progress_bar(quiet=output is Format.json) as progress:
        replay = open_replay(
            archive, chosen, reading, window, language=language, work=work, training=training, progress=progress
        )
        settings = BacktestSettings(
            policies=names,
            weeks=weeks,
            tops=list_sizes(top),
            history=history.value,
            n_candidates=candidates,
            training=replay.training,
            seed=seed,
        )
        windows = windows_to_test(test_weeks, replay.archive)
        cases = tasks(replay.archive, replay.corpus, replay.results(settings), chosen, settings, windows)
        jobs = [StudyTask(study.value, case) for case in cases]
        try:
            results = list(run_study(jobs, map=process_map(workers), progress=progress))
        except KeyboardInterrupt:
            console.print("Interrupted. Finished cases are kept. The same command continues.", markup=False)
            raise typer.Exit(130) from None
    order = [subject.name for subject in chosen]
    results.sort(key=lambda case: (case["week"], order.index(case["subject"])))
    tables = study_tables(study.value, results, settings.tops, seed=seed)
    missing = unanswered(results, names)
    if output is Format.json:
        plain = [table.to_dict() for table in tables]
        print_json({"study": study.value, "tables": plain, "unanswered": missing, "cases": results})
        return
    for table in tables:
        print_table(table.title, table.columns, table.rows)
    print_unanswered(missing)
    for case in results:
        if "error" in case:
            out.print(f"{case['subject']}, {case['week']}: left out: {case['error']}", style="dim", markup=False)
