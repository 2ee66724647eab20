"""How good the advice is: next lists by labels, lists that own their filter, the paper's open loop, the model's fit.

    python -m benchmarks.quality [--quick] [--parts labelled,closed,…] [--weeks 8] [--split score] [--only NAME]
                                 [--data DIR] [--work DIR]

Every archive of the data folder that has subjects is run: `NAME.parquet` with `subjects_NAME.json`. Parts, where the
subjects have labels: `labelled` (the next list by labels, all earlier posts known, every subject of the file), `closed`
and `sample` (lists that own their filter, without and with 1 % of the stream to look at), `open` and `list` (the
paper's open loop, with every post of a candidate known and with those alone that the list collected). Where they have
none: `open`, `list` and `fit` (how well KLDA predicts the next week's words). `klda` is run with and without vectors.
Prints JSON `{"archives": {NAME: {…}}}` and rewrites the part of `docs/history/benchmarks.md` between its marks
(`--quick`, `--parts`, `--only` and `--data` leave the page alone). Results of cases are kept in the work folder:
a run that was stopped goes on. After a change of the code or of the coefficients, name another folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality_figures import TOPS, closed_figures, labelled_figures, open_figures
from benchmarks.quality_fit import fit
from benchmarks.quality_page import rewrite
from klda.cli.archives import OpenReplay, open_replay, policy_names, windows_to_test
from klda.cli.inputs import Reading
from klda.cli.output import progress_bar
from klda.errors import KldaError
from klda.evaluation.archive import Archive
from klda.evaluation.backtest import BacktestSettings, check_length, run, tasks
from klda.evaluation.backtest_summary import closed_summary, labelled_summary, open_summary
from klda.evaluation.closed_loop import volume_cap
from klda.evaluation.open_loop import History
from klda.evaluation.parallel import Map, process_pool
from klda.evaluation.subjects import Subject, check_labels, load_subjects

Plain = dict[str, Any]
Part = Callable[[], Plain]
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "history" / "benchmarks.md"
DATA = ROOT.parent / "shared" / "data"
VARIANTS: dict[str, Plain] = {"klda~without vectors": {"use_vectors": False}}
"""The default with a part of it off; run wherever the default is."""
UNTOLD: dict[str, Plain] = {"klda~subject untold": {"subject": None}}
"""Where the first keywords alone say what the subject is."""
SAMPLE = 0.01
"""Share of the stream that loops with a sample may look at beside their lists."""
FEW_LOOPS = ("klda", *VARIANTS, "static", "labels-next-week", "labels-next-week-singly")
"""Whose loops those with a sample are; a quick look leaves the last out."""
QUICK_LABELLED = ("klda", *VARIANTS, "counting", "static")
PARTS = ("labelled", "closed", "sample", "open", "list", "fit")
QUICK_WEEKS, QUICK_HISTORY = 2, 3
"""Weeks that are tested, and weeks of history from which the fit is learnt."""
QUICK_LOOP = 6
"""Weeks through which its loop runs."""
HISTORY = 10
"""Weeks of history before a test week, fewer where an archive is short."""
POLICIES = "klda,counting,counting-scored,viral,frequent,textrank,tfidf,static,random,truth-last-week"
"""Those compared with every post of a candidate known; the others take long on so many."""
QUICK_POLICIES = "klda,counting,counting-scored,viral,static,random"
QUICK_TRAINING = {"pretraining_iterations": 150, "max_iterations": 0}
"""As short as the policy's own."""


def main() -> None:
    """Runs what the archives at hand allow, and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="few subjects, weeks and policies, short loops, a short fit"
    )
    parser.add_argument("--parts", help=f"what to measure, with commas: {', '.join(PARTS)}; all if left out")
    parser.add_argument("--weeks", default="8", help="test weeks: how many of the last ones, or dates with commas")
    parser.add_argument("--split", help="subjects to run; `score`, or all where a file has none, if left out")
    parser.add_argument("--only", metavar="NAME", help="one archive, the page left alone")
    parser.add_argument("--policies", help="policies of next lists and loops, with commas; all of them if left out")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of archives and their subjects")
    parser.add_argument("--work", type=Path, default=None, help="where results are kept; the user's cache by default")
    parser.add_argument("--language", default="en", help="of the archives' posts")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    unknown = set(_asked(given)) - set(PARTS)
    if unknown:
        parser.error(f"--parts: there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    try:
        found = _archives(given)
    except KldaError as error:
        parser.error(str(error))
    if not found:
        parser.error(f"--data {given.data}: no {given.only or 'NAME'}.parquet with its subjects_….json beside it")
    results: dict[str, Plain] = {}
    with process_pool(given.jobs) as spread:
        parts = [
            (archive.stem, part)
            for archive, subjects in found
            for name, part in _parts(archive, subjects, given, spread).items()
            if name in _asked(given)
        ]
        # One part after the other, each on all cores; the few cases of a quick look leave one idle, so parts overlap.
        with ThreadPoolExecutor(len(parts) if given.quick else 1) as pool:
            for name, part in [(name, pool.submit(_measured, name, part)) for name, part in parts]:
                results[name] = results.get(name, {}) | part.result()
    if not given.quick and not given.parts and not given.only and given.data == DATA:
        rewrite(PAGE, results)
    print(json.dumps({"archives": results}))


def _asked(given: argparse.Namespace) -> tuple[str, ...]:
    """The parts to measure."""
    return tuple(name.strip() for name in given.parts.split(",")) if given.parts else PARTS


def _archives(given: argparse.Namespace) -> list[tuple[Path, tuple[Subject, ...]]]:
    """The archives to run, each with its subjects: of the split that is asked for, else those kept for scoring."""
    found = []
    for path in sorted(given.data.glob("subjects_*.json")):
        archive = path.with_name(path.stem.removeprefix("subjects_") + ".parquet")
        if archive.exists() and given.only in (None, archive.stem):
            subjects = load_subjects(path, given.split)
            if given.split is None:
                subjects = tuple(s for s in subjects if s.split == "score") or subjects
            found.append((archive, subjects))
    return sorted(found, key=lambda one: _labelled(one[1]))


def _parts(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, spread: Map) -> dict[str, Part]:
    """What is to be measured on an archive."""
    try:
        return (with_labels if _labelled(subjects) else without_labels)(archive, subjects, given, spread)
    except KldaError as error:
        return dict.fromkeys(_asked(given)[:1], partial(_refused, error))


def _refused(error: KldaError) -> Plain:
    raise error


def _measured(name: str, part: Part) -> Plain:
    """What a part came to; one that an archive does not allow says why and stops no other."""
    try:
        return part()
    except KldaError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return {"error": str(error)}


def _labelled(subjects: Sequence[Subject]) -> bool:
    return any(subject.labels for subject in subjects)


def without_labels(
    archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, spread: Map
) -> dict[str, Part]:
    """What is to be measured: the open loop on weeks of all posts, and how well KLDA predicts the next week."""
    subjects = subjects[: 2 if given.quick else None]
    engagement = given.data / "congress_2016_engagement.parquet"
    replay = _replay(archive, subjects, given, engagement if engagement.exists() else None)
    windows = _windows(replay, given)
    asked = (replay, subjects, windows, spread)
    if given.quick:
        weeks = min(QUICK_HISTORY, min(windows))
        learnt = (replay, subjects[:1], min(windows), spread, weeks, QUICK_TRAINING)
        return {"open": partial(_open, *asked, policies=QUICK_POLICIES), "fit": partial(fit, *learnt, quiet=True)}
    of_all = partial(fit, replay, subjects, min(windows), spread, min(HISTORY, min(windows)))
    return _loops_of_all_and_of_the_list(*asked) | {"fit": of_all}


def _loops_of_all_and_of_the_list(
    replay: OpenReplay, subjects: Sequence[Subject], windows: Sequence[int], spread: Map
) -> dict[str, Part]:
    """The open loop with every post of a candidate known, and with those of the list alone."""
    asked = (replay, subjects, windows, spread)
    return {"open": partial(_open, *asked), "list": lambda: {"list_only": _open(*asked, "static", "all")}}


def with_labels(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, spread: Map) -> dict[str, Part]:
    """What is to be measured: next lists and closed loops of subjects whose posts are known, and all open loops."""
    replay = _replay(archive, subjects, given, None)
    known = set(replay.archive.labels)
    chosen = [subject for subject in subjects if not subject.labels.isdisjoint(known)]
    check_labels(() if chosen else subjects, known)
    for lost in (subject.name for subject in subjects if subject.labels and subject not in chosen):
        print(f"{archive.stem}: no post has a label of {lost}: no loop by labels is run on it", file=sys.stderr)
    if given.quick:
        few = [_smallest(replay.archive, chosen)]
        last = [replay.archive.n_windows - 1]
        return {
            "labelled": partial(_next_lists, replay, few, last, spread, QUICK_LABELLED, quiet=True),
            "closed": partial(_closed, replay, few, given, spread, quiet=True),
            "sample": lambda: {"with_sample": _closed(replay, few, given, spread, FEW_LOOPS[:-1], SAMPLE, quiet=True)},
        }
    judged = [subject for subject in _of_file(archive, given) or subjects if not subject.labels.isdisjoint(known)]
    names = _loops(given) if given.policies else (*policy_names("all", labels=True), *VARIANTS, *UNTOLD)
    sampled = _loops(given) if given.policies else FEW_LOOPS
    return {
        "labelled": partial(_next_lists, replay, judged, _windows(replay, given), spread, names),
        "closed": partial(_closed, replay, chosen, given, spread),
        "sample": lambda: {"with_sample": _closed(replay, chosen, given, spread, sampled, SAMPLE)},
        **_loops_of_all_and_of_the_list(replay, subjects, [replay.archive.n_windows - 1], spread),
    }


def _of_file(archive: Path, given: argparse.Namespace) -> tuple[Subject, ...]:
    """Every subject of an archive's file, or those of the split that is asked for; none where there is no file."""
    path = archive.with_name(f"subjects_{archive.stem}.json")
    return load_subjects(path, given.split) if path.exists() else ()


def _smallest(archive: Archive, subjects: Sequence[Subject]) -> Subject:
    """The subject with the fewest posts, of those with several keywords if there are any."""
    every = range(archive.n_windows)
    return min(subjects, key=lambda subject: (len(subject.keywords) == 1, volume_cap(archive, subject, every)))


def _windows(replay: OpenReplay, given: argparse.Namespace) -> list[int]:
    """The windows to test: as asked for, as far as at least half of the usual history lies before them."""
    weeks = str(QUICK_WEEKS) if given.quick else given.weeks
    if weeks.isdecimal():
        weeks = str(max(1, min(int(weeks), replay.archive.n_windows - HISTORY // 2)))
    return windows_to_test(weeks, replay.archive)


def _loops(given: argparse.Namespace) -> tuple[str, ...]:
    """The policies of the closed loop."""
    if given.policies:
        return tuple(name.strip() for name in given.policies.split(","))
    return FEW_LOOPS[:-1] if given.quick else (*policy_names("all", labels=True), *VARIANTS)


def _replay(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, training: Path | None) -> OpenReplay:
    with progress_bar(quiet=False) as progress:
        work = given.work and given.work.resolve()
        replay = open_replay(
            [archive],
            subjects,
            Reading({}),
            "7d",
            language=given.language,
            work=work,
            training=training,
            progress=progress,
        )
    check_length(replay.archive)
    return replay


def _closed(
    replay: OpenReplay,
    subjects: Sequence[Subject],
    given: argparse.Namespace,
    spread: Map,
    names: tuple[str, ...] | None = None,
    sample: float = 0.0,
    *,
    quiet: bool = False,
) -> Plain:
    """The figures of a closed loop over all weeks, in a quick look over the first few."""
    names = names or _loops(given)
    settings = BacktestSettings(
        policies=names,
        loop="closed",
        loop_weeks=QUICK_LOOP if given.quick else None,
        sample_rate=sample,
        policy_settings=VARIANTS,
    )
    work = tasks(replay.archive, replay.corpus, replay.results(settings), subjects, settings, [])
    summary = closed_summary(_run(work, spread, "closed loop", quiet=quiet), names)
    return closed_figures(summary) | {"closed_loop": summary}


def _next_lists(
    replay: OpenReplay,
    subjects: Sequence[Subject],
    windows: Sequence[int],
    spread: Map,
    names: tuple[str, ...],
    *,
    quiet: bool = False,
) -> Plain:
    """The figures of next lists that labels judge, over these weeks."""
    settings = BacktestSettings(
        policies=names,
        loop="labelled",
        weeks=min(HISTORY, min(windows)),
        policy_settings=VARIANTS | UNTOLD,
    )
    work = tasks(replay.archive, replay.corpus, replay.results(settings), subjects, settings, windows)
    summary = labelled_summary(_run(work, spread, "next lists", quiet=quiet), names)
    summary = {key: value for key, value in summary.items() if key != "cases"}
    return labelled_figures(summary) | {"labelled": summary}


def _open(
    replay: OpenReplay,
    subjects: Sequence[Subject],
    windows: Sequence[int],
    spread: Map,
    history: History = "full",
    policies: str = POLICIES,
) -> Plain:
    """The figures of an open loop over these weeks; why its history is `full`, docs/history/benchmarks.md says."""
    names = (*policy_names(policies), *VARIANTS)
    settings = BacktestSettings(
        policies=names,
        history=history,
        weeks=min(HISTORY, min(windows)),
        tops=TOPS,
        training=replay.training,
        policy_settings=VARIANTS,
    )
    work = tasks(replay.archive, replay.corpus, replay.results(settings), subjects, settings, windows)
    cases = sorted(_run(work, spread, "open loop"), key=lambda case: (case["week"], case["subject"]))
    summary = open_summary(cases, names, TOPS)
    figures: Plain = {}
    for prefix, reading in (("", "raw"), ("corrected_", "corrected")):
        figures |= {prefix + name: value for name, value in open_figures(summary, reading).items()}
    summary = {key: value for key, value in summary.items() if key != "cases"}
    return figures | {"open_loop": summary}


def _run(jobs: Sequence[Any], spread: Map, title: str, *, quiet: bool = False) -> list[Plain]:
    with progress_bar(quiet=quiet) as progress:

        def under_its_title(stage: str, done: int, total: int | None = None, **facts: float) -> None:
            progress(f"{title}: {stage}", done, total, **facts)

        return list(run(jobs, map=spread, progress=under_its_title))


if __name__ == "__main__":
    main()
