"""`klda study`: the paper's tables, perplexity, or the choice of a divergence, on any archive."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from klda.cli import options as o
from klda.cli.archives import list_sizes, open_replay, policy_names, windows_to_test
from klda.cli.arguments import check_files, check_output, parse_mapping, parse_settings
from klda.cli.backtest import print_unanswered
from klda.cli.output import Format, console, out, print_json, print_table, progress_bar, starting
from klda.errors import InputError, SettingError

if TYPE_CHECKING:
    from klda.evaluation.studies import Study


class StudyName(StrEnum):
    """Names of the studies."""

    tables = "tables"
    perplexity = "perplexity"
    divergence = "divergence"


class StudyPreset(StrEnum):
    """Studies that are set up in one word."""

    paper = "paper"


class HistoryName(StrEnum):
    """Lists that collected the history."""

    viral = "viral"
    static = "static"
    full = "full"


def study(
    archive: o.Files,
    subjects: o.Subjects,
    preset: Annotated[
        StudyPreset | None,
        typer.Option(
            help="paper: Tables 1 to 6 of the paper, with its literal recipe, viral and random, beside the default and "
            "the baselines. Takes minutes a case.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        StudyName | None,
        typer.Option(
            help="One study instead of all: tables (1, 2, 3, 5, 6; the default), perplexity (Table 4), or divergence "
            "(whether the choice of a divergence matters).",
            show_default=False,
        ),
    ] = None,
    split: o.Split = None,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            "-p",
            help="Policies whose advice the tables show: klda,viral if left out, with a preset its own.",
            show_default=False,
        ),
    ] = None,
    settings: o.StudySettings = None,
    weeks: o.Weeks = 10,
    test_weeks: o.TestWeeks = "1",
    top: o.ListSizes = "2,3",
    history: Annotated[
        HistoryName,
        typer.Option(
            help="Lists of earlier weeks: viral changes them weekly, as the paper does; static keeps the first; full "
            "shows every post of a candidate."
        ),
    ] = HistoryName.viral,
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
    save: Annotated[
        Path | None, typer.Option(help="Also write the tables: .md as Markdown, any other name as JSON.")
    ] = None,
    output: o.OutputFormat = Format.table,
    seed: o.Seed = 0,
) -> None:
    """Repeat the studies of the paper on an archive.

    Results of a backtest with the same settings are reused. A study that was stopped goes on where it was.
    """
    check_files(*archive, subjects, training)
    check_output(save, "--save")
    if preset is not None and study is not None:
        raise SettingError(f"--preset {preset} and --study {study} are two ways to choose a study; give one")
    which: Study = preset.value if preset else (study or StudyName.tables).value
    with starting(quiet=output is Format.json):
        from klda.cli.inputs import Reading
        from klda.evaluation.backtest import BacktestSettings, tasks
        from klda.evaluation.backtest_summary import unanswered
        from klda.evaluation.parallel import process_map
        from klda.evaluation.studies import PAPER_POLICIES, StudyTask, run_study
        from klda.evaluation.study_tables import study_tables
        from klda.evaluation.subjects import load_subjects

    chosen = load_subjects(subjects, split)
    names = PAPER_POLICIES if policies is None and preset else policy_names(policies or "klda,viral")
    own = _policy_settings(settings or [])
    reading = Reading(parse_mapping(mapping or []), reposts, None, timezone, date_format=date_format)
    with progress_bar(quiet=output is Format.json) as progress:
        replay = open_replay(
            archive, chosen, reading, window, language=language, work=work, training=training, progress=progress
        )
        asked = BacktestSettings(
            policies=names,
            weeks=weeks,
            tops=list_sizes(top),
            history=history.value,
            n_candidates=candidates,
            training=replay.training,
            seed=seed,
            policy_settings=own,
        )
        windows = windows_to_test(test_weeks, replay.archive)
        cases = tasks(replay.archive, replay.corpus, replay.results(asked), chosen, asked, windows)
        jobs = [StudyTask(which, case) for case in cases]
        try:
            results = list(run_study(jobs, map=process_map(workers), progress=progress))
        except KeyboardInterrupt:
            console.print("Interrupted. Finished cases are kept. The same command continues.", markup=False)
            raise typer.Exit(130) from None
    order = [subject.name for subject in chosen]
    results.sort(key=lambda case: (case["week"], order.index(case["subject"])))
    tables = study_tables(which, results, asked.tops, seed=seed)
    missing = unanswered(results, names)
    plain = {
        "study": which,
        "tables": [table.to_dict() for table in tables],
        "unanswered": missing,
        "cases": results,
    }
    if save is not None:
        _write(save, "\n".join(table.to_markdown() for table in tables) if save.suffix == ".md" else json.dumps(plain))
    if output is Format.json:
        print_json(plain)
        return
    for table in tables:
        print_table(table.title, table.columns, table.rows)
        for note in table.notes:
            out.print(note, style="dim", markup=False, highlight=False)
    print_unanswered(missing)
    for case in results:
        if "error" in case:
            out.print(f"{case['subject']}, {case['week']}: left out: {case['error']}", style="dim", markup=False)


def _policy_settings(pairs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Settings by policy, from `policy.name=value` pairs."""
    found: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        policy, dot, setting = pair.partition(".")
        if not dot or "=" in policy:
            raise SettingError(f"--set {pair!r}: write policy.name=value, for example --set klda-paper.iterations=500")
        found[policy] = found.get(policy, {}) | parse_settings([setting], policy.partition("~")[0])
    return found


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: the tables cannot be written ({error.strerror}); give another path") from error
