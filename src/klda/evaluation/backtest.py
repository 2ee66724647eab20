"""Backtests: many cases, each run once, kept on disk, and summed up with intervals.

A case is one subject in one test window (open and labelled loop) or one subject under one policy (closed loop). Each
result is a small JSON file in the work folder; a run that was killed goes on with those that are missing. How cases are
spread over processes is the caller's business: everything here goes through an injected `map`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import numpy as np

from klda.advice.policy import Policy
from klda.baselines.viral import Viral, learnt
from klda.errors import DataError, SettingError
from klda.evaluation.archive import Archive
from klda.evaluation.asking import policy_of
from klda.evaluation.closed_loop import LoopSettings, run_closed_loop, volume_cap
from klda.evaluation.labelled import REFERENCES, LabelledCase, answered, everything
from klda.evaluation.open_loop import (
    LAST_TRUTH,
    Case,
    History,
    PolicyAnswer,
    ask,
    ceiling,
    counts,
    last_truth,
    open_loop_case,
    score,
)
from klda.evaluation.references import ORACLES
from klda.evaluation.result_cache import Plain, read_result, result_path, write_result
from klda.evaluation.subjects import Subject, check_labels
from klda.evaluation.truth import Truth, measure_truth
from klda.text.corpus import Corpus
from klda.text.shards import load_corpus
from klda.types import Progress, silent

Map = Callable[[Callable[["Task"], Plain], Iterable["Task"]], Iterable[Plain]]
RANDOM_DRAWS = 20
"""Random draws of which the mean is the zero of every skill."""
KEPT_TRUTH = 10
"""True words of each keyword that a result keeps; more if longer lists are asked for."""


@dataclass(frozen=True)
class BacktestSettings:
    """The settings of a backtest. Each result's name depends on them, so results of other settings never mix in."""

    policies: tuple[str, ...]
    loop: Literal["open", "closed", "labelled"] = "open"
    weeks: int = 10
    tops: tuple[int, ...] = (2, 3)
    history: History = "viral"
    n_candidates: int = 45
    max_terms: int = 10
    loop_weeks: int | None = None
    """How many of the first windows a closed loop runs through; all if left out."""
    sample_rate: float = 0.0
    training: str | None = None
    """Folder of a corpus with repost counts, for `viral`."""
    seed: int = 0
    policy_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name; `klda~variant` is `klda` with the settings given under that name."""


@dataclass(frozen=True)
class Task:
    """One case to run: picklable, so that it can go to another process."""

    corpus: str
    """Folder of the archive's corpus."""
    work: str
    """Folder of results."""
    subject: Subject
    settings: BacktestSettings
    test_window: int = -1
    policy: str = ""
    """In a closed loop: whose loop it is."""


def tasks(
    archive: Archive,
    corpus: Path,
    work: Path,
    subjects: Sequence[Subject],
    settings: BacktestSettings,
    windows: Sequence[int],
) -> list[Task]:
    """All cases of a backtest: subjects × test windows, or subjects × policies when the loop is closed."""
    if settings.loop == "labelled":
        unlabelled = [subject.name for subject in subjects if not subject.labels]
        if unlabelled:
            raise SettingError(f"subject {unlabelled[0]!r} has no labels to judge a next list by; add some")
    if settings.loop != "open":
        check_labels(subjects, archive.labels)
    if settings.loop == "closed":
        check_length(archive)
        return [
            Task(str(corpus), str(work), subject, settings, policy=name)
            for subject in subjects
            for name in settings.policies
        ]
    weeks = max(settings.weeks, 1)
    wrong = [w for w in windows if not weeks <= w < archive.n_windows]
    if wrong:
        at = min(wrong[0], archive.n_windows - 1)
        needed = f"{weeks} {'window' if weeks == 1 else 'windows'}"
        raise SettingError(
            f"{archive.corpus.windows[at]}: a test window needs {needed} before it, this one has {at} in an archive of "
            f"{archive.n_windows}; ask for less history (--weeks), test fewer or later windows (--test-weeks), or give "
            "posts of a longer time"
        )
    return [
        Task(str(corpus), str(work), subject, settings, test_window=window)
        for window in windows
        for subject in subjects
    ]


def check_length(archive: Archive) -> None:
    """Refuses an archive of a single window."""
    if archive.n_windows < 2:
        raise SettingError(
            "all posts are of one window, and it takes two to tell what the next one brings; give posts of a longer "
            "time or choose shorter windows (--window)"
        )


def run(jobs: Sequence[Task], *, map: Map = map, progress: Progress = silent) -> Iterator[Plain]:  # noqa: A002
    """The result of every case, in the order in which they end; those that were run before are only read."""
    task = RUNNERS[jobs[0].settings.loop] if jobs else run_open_case
    for done, result in enumerate(map(task, jobs), start=1):
        progress("cases", done, len(jobs))
        yield result


def run_open_case(task: Task, case: Case | None = None) -> Plain:
    """Truth and every policy's answer in one case; parts that are in the work folder are only read.

    The `case` is given where it was made already.
    """
    settings, name = task.settings, case_name(task)
    path = result_path(Path(task.work), task.subject, name)
    known = read_result(path)
    missing = [p for p in settings.policies if p not in known.get("answers", {})]
    if known.get("finished") and (not missing or "error" in known):
        return known
    try:
        case = case or case_of(task)
        generator = generator_for(settings.seed, name, "truth")
        truth = None if known else measure_truth(case.test, case.current, generator=generator)
    except DataError as error:
        result = identity(task) | {"counts": False, "finished": True, "error": str(error), "answers": {}}
        write_result(path, result)
        return result
    if truth is not None:
        known = identity(task) | _judged(truth, settings.tops) | {"answers": {}}
        known |= {
            "documents": len(case.history),
            "test_documents": len(case.test),
            "current": list(case.current.texts),
            "candidates": list(case.candidates.texts),
            "history": [list(keywords.texts) for keywords in case.history.history],
            "notes": list(case.notes),
            "finished": True,
        }
        write_result(path, known)
    for policy_name in missing:
        known["answers"][policy_name] = _answered(policy_name, case, known, task, name)
        write_result(path, known)
    return known


def case_of(task: Task) -> Case:
    """The case of an open-loop task; the same each time."""
    settings = task.settings
    return open_loop_case(
        archive_of(task),
        task.subject,
        task.test_window,
        weeks=settings.weeks,
        history=settings.history,
        viral=viral if isinstance(viral := policy_for(task, "viral"), Viral) else None,
        n_candidates=settings.n_candidates,
        generator=generator_for(settings.seed, case_name(task), "case"),
    )


def case_name(task: Task) -> str:
    """The name of an open-loop case."""
    return "{subject}-{week}".format_map(identity(task))


def identity(task: Task) -> Plain:
    """The subject and the week that identify an open-loop case."""
    return {"subject": task.subject.name, "week": str(archive_of(task).corpus.windows[task.test_window])}


def _judged(truth: Truth, tops: Sequence[int]) -> Plain:
    readings = {"raw": truth.raw, "corrected": truth.corrected}
    most = max(KEPT_TRUTH, *tops)
    return {
        "counts": counts(truth),
        "n_eligible": truth.n_eligible,
        "truth": {name: {k: list(v[:most]) for k, v in r.whole.items()} for name, r in readings.items()},
        "ceiling": {name: {str(top): _number(ceiling(r, top)) for top in tops} for name, r in readings.items()},
    }


def _answered(name: str, case: Case, judged: Plain, task: Task, where: str) -> Plain:
    """A policy's answers and scores; chance is the mean of many draws."""
    settings = task.settings
    top = max(settings.tops)
    answers = []
    for draw in range(RANDOM_DRAWS if name == "random" else 1):
        generator = generator_for(settings.seed, where, f"{name}/{draw}")
        try:
            if name == LAST_TRUTH:
                answers.append(last_truth(case, top))
            else:
                asked = case.viral if name == "viral" else None
                answers.append(ask(asked or policy_for(task, name, top=top), case, generator))
        except DataError as error:
            return {"error": str(error), "scores": {}}
    return judged_answer(answers, judged["truth"], settings.tops)


def judged_answer(answers: Sequence[PolicyAnswer], truth: Mapping[str, Plain], tops: Sequence[int]) -> Plain:
    """A policy's last answer as plain data, with the mean scores of all its answers by each reading of the truth."""
    totals: dict[str, list[Plain]] = {}
    for answer in answers:
        for reading, lists in truth.items():
            for t in tops:
                true = {k: tuple(v) for k, v in lists.items()}
                totals.setdefault(f"{reading}/{t}", []).append(score(answer, true, t))
    means = {
        key: {m: _number(float(np.nanmean([s[m] for s in rows])) if _some(rows, m) else float("nan")) for m in rows[0]}
        for key, rows in totals.items()
    }
    answer = answers[-1]
    proposed = {k: list(v) for k, v in answer.lists.items()} if answer.lists is not None else list(answer.words)
    together = None if answer.together is None else list(answer.together[: max(tops)])
    return {"proposed": proposed, "together": together, "scores": means, "seconds": round(answer.seconds, 2)}


def run_closed_case(task: Task) -> Plain:
    """Every window of one subject under one policy."""
    archive, settings, subject = archive_of(task), task.settings, task.subject
    name = f"{subject.name}-{task.policy}"
    path = result_path(Path(task.work), subject, name)
    known = read_result(path)
    if known.get("finished"):
        return known
    windows = range(archive.n_windows)[: settings.loop_weeks]
    loop = LoopSettings(
        max_terms=max(settings.max_terms, subject.keywords.n_terms),
        cap=volume_cap(archive, subject, windows),
        sample_rate=settings.sample_rate,
        training=settings.training,
    )
    policy = task.policy if task.policy in ORACLES else policy_for(task, task.policy)
    weeks = run_closed_loop(
        archive,
        subject,
        policy,
        loop,
        windows=windows,
        generator=generator_for(settings.seed, name, "loop"),
    )
    result = {
        "subject": subject.name,
        "policy": task.policy,
        "cap": loop.cap,
        "weeks": [week.to_dict() for week in weeks],
        "finished": True,
    }
    write_result(path, result)
    return result


def run_labelled_case(task: Task) -> Plain:
    """The scores of every policy's next list in one case; answers that are in the work folder are only read."""
    settings, name = task.settings, case_name(task)
    path = result_path(Path(task.work), task.subject, name)
    found = read_result(path) or identity(task) | {"answers": {}}
    case = LabelledCase(archive_of(task), task.subject, task.test_window, settings.weeks, settings.training)
    for policy in settings.policies:
        if policy not in found["answers"]:
            asked = policy if policy in REFERENCES else policy_for(task, policy)
            found["answers"][policy] = answered(case, asked, generator_for(settings.seed, name, policy))
            write_result(path, found)
    return found


RUNNERS = {"open": run_open_case, "closed": run_closed_case, "labelled": run_labelled_case}


def archive_of(task: Task) -> Archive:
    """The archive of a task; each process loads it once."""
    return _archive(task.corpus)


@lru_cache(maxsize=1)
def _archive(folder: str) -> Archive:
    return Archive(load_corpus(folder))


@lru_cache(maxsize=1)
def _training(folder: str) -> Corpus:
    return load_corpus(folder)


def close_archive() -> None:
    """Drops the archive that this process keeps in memory."""
    for kept in (_archive, _training, everything, learnt):
        kept.cache_clear()


def policy_for(task: Task, name: str, **usual: Any) -> Policy:
    """The policy of this name as a task asks it; `viral` learns from the archive, or from the posts for training."""
    settings = task.settings
    return policy_of(
        name,
        task.subject,
        settings.policy_settings.get(name),
        sample_share=settings.sample_rate or 1.0,
        training=_training(settings.training) if settings.training else archive_of(task).corpus,
        **usual,
    )


def generator_for(seed: int, *names: str) -> np.random.Generator:
    """A generator of its own for each purpose: an additional policy changes no other result."""
    return np.random.default_rng([seed, crc32("/".join(names).encode())])


def _some(rows: Sequence[Plain], measure: str) -> bool:
    return any(not np.isnan(row[measure]) for row in rows)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 6)
