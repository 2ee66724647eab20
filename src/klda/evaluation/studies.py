"""The paper's studies on the cases of a backtest: its tables, perplexity, and the choice of a divergence.

A study asks something of every open-loop case. Answers are kept in the backtest's work folder, one small file a case,
so that a study that was killed goes on where it was, and the tables reuse what a backtest has run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from klda.errors import DataError
from klda.evaluation.backtest import Task, case_name, case_of, generator_for, identity, run_open_case
from klda.evaluation.divergence_study import divergence_overlaps
from klda.evaluation.open_loop import Case
from klda.evaluation.paper_study import paper_case
from klda.evaluation.perplexity import measure_perplexity
from klda.evaluation.result_cache import Plain, read_result, result_path, write_result
from klda.evaluation.tables import case_facts
from klda.types import Progress, silent

Study = Literal["tables", "perplexity", "divergence", "paper"]
STUDIES: tuple[Study, ...] = ("tables", "perplexity", "divergence", "paper")
StudyMap = Callable[[Callable[["StudyTask"], Plain], Iterable["StudyTask"]], Iterable[Plain]]


@dataclass(frozen=True)
class StudyTask:
    """One study of one case: picklable, so that it can go to another process."""

    study: Study
    task: Task
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of `KLDA` (perplexity) or of `KLDAPolicy` (divergence), in place of its defaults."""


def run_study(jobs: Sequence[StudyTask], *, map: StudyMap = map, progress: Progress = silent) -> Iterator[Plain]:  # noqa: A002
    """The answer of every case, in the order in which they end; those that were run before are only read."""
    for done, result in enumerate(map(study_case, jobs), start=1):
        progress("cases", done, len(jobs))
        yield result


def study_case(job: StudyTask) -> Plain:
    """What a study finds in one case; {"error": …} where the case cannot be asked."""
    task = job.task
    if job.study == "paper":
        return paper_case(task)
    path = result_path(Path(task.work), task.subject, job.study, case_name(task), *_told_apart(job.settings))
    known = read_result(path)
    if not known:
        try:
            known = _FINDERS[job.study](job, case_of(task))
        except DataError as error:
            known = {"error": str(error)}
        known |= identity(task)
        write_result(path, known)
    if job.study == "tables" and "error" not in known:
        known = asked_answers(task) | known
    return known


def asked_answers(task: Task) -> Plain:
    """The result of a case with the answers of the policies that were asked for, not those of earlier runs."""
    found = run_open_case(task)
    return found | {
        "answers": {name: found["answers"][name] for name in task.settings.policies if name in found["answers"]}
    }


def _told_apart(settings: Mapping[str, Any]) -> list[str]:
    """What a result's name has for settings other than the defaults."""
    return [f"{crc32(repr(sorted(settings.items())).encode()):08x}"] if settings else []


def _facts(_: StudyTask, case: Case) -> Plain:
    return case_facts(case)


def _perplexity(job: StudyTask, case: Case) -> Plain:
    """Perplexity on the posts that the history's own filter would collect in the test window.

    The test window was collected with all candidates. Unless the history was too, words of posts that no list ever
    collected would be asked of models that never saw such posts.
    """
    settings = job.task.settings
    inside = case.test if settings.history == "full" else case.test.take(case.test.carrying(case.current))
    seed = crc32(f"{settings.seed}/{case_name(job.task)}".encode()) % 2**31
    return measure_perplexity(case.history, inside, seed=seed, settings=job.settings).to_dict()


def _divergence(job: StudyTask, case: Case) -> Plain:
    settings = job.task.settings
    generator = generator_for(settings.seed, case_name(job.task), "divergence")
    return {"overlap": divergence_overlaps(case, settings.tops, generator=generator, settings=job.settings)}


_FINDERS: dict[str, Callable[[StudyTask, Case], Plain]] = {
    "tables": _facts,
    "perplexity": _perplexity,
    "divergence": _divergence,
}
