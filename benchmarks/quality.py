"""How good the advice is: every policy against the same truth, the model's fit, and lists that own their filter.

    python -m benchmarks.quality [--quick] [--weeks 8] [--split score] [--only NAME] [--data DIR] [--work DIR]

Every archive of the data folder that has subjects is run: `NAME.parquet` with `subjects_NAME.json`. Where the subjects
have labels, lists own their filter, without and with a sample of the stream to look at (`with_sample`), and the open
loop stands beside it; where they have none, the open loop and the fit are what can be measured. The open loop is run
twice: with every post of a candidate known (`skill` and its like), and with those alone that the list collected
(`list_only`). Prints JSON `{"archives": {NAME: {…}}}` and rewrites the part of `docs/benchmarks.md` between its marks
(`--quick`, `--only` and `--data` leave the page alone). Results of cases are kept in the work folder: a run that was
stopped goes on.
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

from benchmarks.quality_figures import TOPS, closed_figures, open_figures
from benchmarks.quality_fit import fit
from benchmarks.quality_page import rewrite
from klda.cli.archives import Replay, open_replay, policy_names, windows_to_test
from klda.cli.inputs import Reading
from klda.cli.progress import progress_bar
from klda.errors import KldaError
from klda.evaluation.archive import Archive
from klda.evaluation.backtest import BacktestSettings, check_length, run, tasks
from klda.evaluation.closed_loop import volume_cap
from klda.evaluation.open_loop import History
from klda.evaluation.parallel import Map, process_pool
from klda.evaluation.subjects import Subject, check_labels, load_subjects
from klda.evaluation.summary import closed_summary, open_summary

Plain = dict[str, Any]
Part = Callable[[], Plain]
ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
ABLATIONS: dict[str, Plain] = {
    "klda~each keyword by itself": {"joint": False},
    "klda~measured on all posts alone": {"equal_posts": False},
    "klda~counts without the model": {"strength": 1.0},
    "klda~all weeks alike": {"half_life": 100.0},
    "klda~scored as it stands": {"scored_as_measured": False},
}
"""Each ingredient of the default off, one at a time, where every post of a candidate is known."""
LIST_ABLATIONS: dict[str, Plain] = {
    **{name: off for name, off in ABLATIONS.items() if not off.keys() & {"joint", "equal_posts"}},
    "klda~volume not counted": {"volume": 0.0},
}
"""The same where only the list's own posts are known: candidates are not chosen together there."""
LOOP_ABLATIONS: dict[str, Plain] = {"klda~company not asked": {"company": False}}
SAMPLE = 0.01
"""Share of the stream that loops with a sample may look at beside their lists."""
FEW_LOOPS = ("klda", "static", "labels-next-week", "labels-next-week-singly")
"""Whose loops those with a sample are; a quick look leaves the last out."""
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
        "--quick", action="store_true", help="two subjects × two weeks, one short loop, a short fit, no ablation"
    )
    parser.add_argument("--weeks", default="8", help="test weeks: how many of the last ones, or dates with commas")
    parser.add_argument("--split", help="subjects to run; `score`, or all where a file has none, if left out")
    parser.add_argument("--only", metavar="NAME", help="one archive, the page left alone")
    parser.add_argument("--loops", help="policies of the closed loop, with commas; all of them if left out")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of archives and their subjects")
    parser.add_argument("--work", type=Path, default=None, help="where results are kept; the user's cache by default")
    parser.add_argument("--language", default="en", help="of the archives' posts")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    try:
        found = _archives(given)
    except KldaError as error:
        parser.error(str(error))
    if not found:
        parser.error(f"--data {given.data}: no {given.only or 'NAME'}.parquet with its subjects_….json beside it")
    results: dict[str, Plain] = {}
    with process_pool(given.jobs) as spread:
        parts = [
            (archive.stem, part) for archive, subjects in found for part in _parts(archive, subjects, given, spread)
        ]
        # One part after the other, each on all cores; the few cases of a quick look leave one idle, so parts overlap.
        with ThreadPoolExecutor(len(parts) if given.quick else 1) as pool:
            for name, part in [(name, pool.submit(_measured, name, part)) for name, part in parts]:
                results[name] = results.get(name, {}) | part.result()
    if not given.quick and not given.only and given.data == DATA:
        rewrite(ROOT / "docs" / "benchmarks.md", results)
    print(json.dumps({"archives": results}))


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


def _parts(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, spread: Map) -> list[Part]:
    """What is to be measured on an archive."""
    try:
        return (with_labels if _labelled(subjects) else without_labels)(archive, subjects, given, spread)
    except KldaError as error:
        return [partial(_refused, error)]


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


def without_labels(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, spread: Map) -> list[Part]:
    """What is to be measured: the open loop on weeks of all posts, and how well KLDA predicts the next week."""
    subjects = subjects[: 2 if given.quick else None]
    engagement = given.data / "congress_2016_engagement.parquet"
    replay = _replay(archive, subjects, given, engagement if engagement.exists() else None)
    windows = _windows(replay, given)
    asked = (replay, subjects, windows, spread)
    if given.quick:
        weeks = min(QUICK_HISTORY, min(windows))
        return [
            partial(_open, *asked, {}, policies=QUICK_POLICIES),
            partial(fit, replay, subjects[:1], min(windows), spread, weeks, QUICK_TRAINING, quiet=True),
        ]
    return [
        *_loops_of_all_and_of_the_list(*asked),
        partial(fit, replay, subjects, min(windows), spread, min(HISTORY, min(windows))),
    ]


def _loops_of_all_and_of_the_list(
    replay: Replay, subjects: Sequence[Subject], windows: Sequence[int], spread: Map
) -> list[Part]:
    """The open loop with every post of a candidate known, and with those of the list alone."""
    asked = (replay, subjects, windows, spread)
    return [
        partial(_open, *asked, ABLATIONS),
        lambda: {"list_only": _open(*asked, LIST_ABLATIONS, "static", "all")},
    ]


def with_labels(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, spread: Map) -> list[Part]:
    """What is to be measured: the closed loop of subjects whose posts are known, and the open loop of all beside it."""
    replay = _replay(archive, subjects, given, None)
    known = set(replay.archive.labels)
    chosen = [subject for subject in subjects if not subject.labels.isdisjoint(known)]
    check_labels(() if chosen else subjects, known)
    for lost in (subject.name for subject in subjects if subject.labels and subject not in chosen):
        print(f"{archive.stem}: no post has a label of {lost}: no closed loop is run on it", file=sys.stderr)
    if given.quick:
        return [partial(_closed, replay, [_smallest(replay.archive, chosen)], given, spread, quiet=True)]
    return [
        partial(_closed, replay, chosen, given, spread),
        lambda: {"with_sample": _closed(replay, chosen, given, spread, FEW_LOOPS, SAMPLE)},
        *_loops_of_all_and_of_the_list(replay, subjects, [replay.archive.n_windows - 1], spread),
    ]


def _smallest(archive: Archive, subjects: Sequence[Subject]) -> Subject:
    """The subject with the fewest posts, of those with several keywords if there are any."""
    every = range(archive.n_windows)
    return min(subjects, key=lambda subject: (len(subject.keywords) == 1, volume_cap(archive, subject, every)))


def _windows(replay: Replay, given: argparse.Namespace) -> list[int]:
    """The windows to test: as asked for, as far as at least half of the usual history lies before them."""
    weeks = str(QUICK_WEEKS) if given.quick else given.weeks
    if weeks.isdecimal():
        weeks = str(max(1, min(int(weeks), replay.archive.n_windows - HISTORY // 2)))
    return windows_to_test(weeks, replay.archive)


def _loops(given: argparse.Namespace) -> tuple[str, ...]:
    """The policies of the closed loop."""
    if given.loops:
        return tuple(name.strip() for name in given.loops.split(","))
    return FEW_LOOPS[:-1] if given.quick else (*policy_names("all", labels=True), *LOOP_ABLATIONS)


def _replay(archive: Path, subjects: Sequence[Subject], given: argparse.Namespace, training: Path | None) -> Replay:
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
    replay: Replay,
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
        policy_settings=LOOP_ABLATIONS,
    )
    work = tasks(replay.archive, replay.corpus, replay.results(settings), subjects, settings, [])
    summary = closed_summary(_run(work, spread, "closed loop", quiet=quiet), names)
    return closed_figures(summary) | {"closed_loop": summary}


def _open(
    replay: Replay,
    subjects: Sequence[Subject],
    windows: Sequence[int],
    spread: Map,
    ablations: dict[str, Plain],
    history: History = "full",
    policies: str = POLICIES,
) -> Plain:
    """The figures of an open loop over these weeks; why its history is `full`, docs/benchmarks.md says."""
    names = (*policy_names(policies), *ablations)
    settings = BacktestSettings(
        policies=names,
        history=history,
        weeks=min(HISTORY, min(windows)),
        tops=TOPS,
        training=replay.training,
        policy_settings=ablations,
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
