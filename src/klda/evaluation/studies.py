"""The paper's studies on the cases of a backtest: its tables, perplexity, and the choice of a divergence.

A study asks something of every open-loop case. Answers are kept in the backtest's work folder, one small file a case,
so that a study that was killed goes on where it was, and the tables reuse what a backtest has run.

The study `paper` repeats the paper's protocol end to end. It trains the literal recipe twice. Trained on all weeks of
the history, it proposes keywords for the test week. Trained on all weeks but the last, it is scored on the last: by the
paper's numbers, and by those that compare fairly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal
from zlib import crc32

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.situation import Situation
from klda.baselines.klda_paper import KLDAPaper
from klda.errors import DataError
from klda.evaluation.backtest import (
    Task,
    case_name,
    case_of,
    generator_for,
    identity,
    judged_answer,
    policy_for,
    run_open_case,
)
from klda.evaluation.divergence_study import divergence_overlaps, list_overlaps
from klda.evaluation.open_loop import Case, PolicyAnswer, ask
from klda.evaluation.paper_tables import case_facts
from klda.evaluation.perplexity import measure_perplexity
from klda.evaluation.result_cache import Plain, read_result, result_path, write_result
from klda.model.klda import KLDA
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
    """The result of a study in one case; {"error": …} if the case cannot be made."""
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
    """A suffix for the name of a result, if settings differ from the defaults."""
    return [f"{crc32(repr(sorted(settings.items())).encode()):08x}"] if settings else []


def _facts(_: StudyTask, case: Case) -> Plain:
    return case_facts(case)


def _perplexity(job: StudyTask, case: Case) -> Plain:
    """Perplexity on the posts that the history's own filter would collect in the test window.

    The test window was collected with all candidates. If the history was not, models never saw posts that only a
    candidate brings, and should not be scored on them.
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


LITERAL = "klda-paper"
PAPER_POLICIES = (
    LITERAL,
    "viral",
    "klda",
    "counting",
    "frequent",
    "tfidf",
    "textrank",
    "topical-pagerank",
    "cooccurrence",
    "embedding",
    "static",
)
"""The paper's two methods, and beside them the default policy and the baselines."""


def paper_case(task: Task) -> Plain:
    """Everything that the tables of the paper show of one case; parts that are in the work folder are only read."""
    path = result_path(Path(task.work), task.subject, "paper", case_name(task))
    known = read_result(path) or identity(task)
    settings = task.settings
    others = tuple(name for name in settings.policies if name != LITERAL)
    without = replace(task, settings=replace(settings, policies=others))
    parts = {part: find for part, find in _PARTS.items() if part != "literal" or LITERAL in settings.policies}
    missing = [part for part in parts if part not in known]
    case = None
    if missing:
        try:
            case = case_of(task)
        except DataError as error:
            return identity(task) | {"error": str(error)}
        for part in missing:
            known[part] = _found(parts[part], task, case)
            write_result(path, known)
    result = run_open_case(without, case)
    if "error" in result:
        return result
    answers = dict(result["answers"])
    if "literal" in parts and "error" in known["literal"]:
        answers[LITERAL] = {"error": known["literal"]["error"], "scores": {}}
    elif "literal" in parts:
        lists = {keyword: tuple(words) for keyword, words in known["literal"]["lists"].items()}
        answer = PolicyAnswer(LITERAL, lists, tuple(known["literal"]["words"]), known["literal"]["seconds"])
        answers[LITERAL] = judged_answer([answer], result["truth"], settings.tops)
    asked = {name: answers[name] for name in settings.policies if name in answers}
    found: Plain = result | known["facts"] | known | {"answers": asked}
    return found


def _found(find: Callable[[Task, Case], Plain], task: Task, case: Case) -> Plain:
    """The result of a part, or its error, with the seconds that it took."""
    start = perf_counter()
    try:
        found = find(task, case)
    except DataError as error:
        found = {"error": str(error)}
    found["seconds"] = round(perf_counter() - start, 1)
    return found


def _data(_: Task, case: Case) -> Plain:
    return case_facts(case)


def _literal(task: Task, case: Case) -> Plain:
    """The literal recipe's lists for the test week, and how much the choice of a divergence changes them."""
    top = max(task.settings.tops)
    policy = _policy(task, top)
    situation = Situation(history=case.history, current=case.current, candidates=case.candidates)
    evidence = Evidence.of(situation)
    where = case_name(task)
    seed = int(generator_for(task.settings.seed, where, f"{LITERAL}/0").integers(2**31))
    model = policy.trained(evidence.history, seed)
    answer = ask(replace(policy, model=model), case, generator_for(task.settings.seed, where, f"{LITERAL}/0"))
    words = model.word_distributions(evidence.candidates).astype(np.float64)
    overlap = list_overlaps(
        words,
        evidence.frequency,
        evidence.current,
        task.settings.tops,
        threshold=policy.high_frequency,
        retention=policy.retention,
        penalty=policy.loss_penalty,
        min_frequency=policy.min_frequency,
    )
    lists = {keyword: list(found) for keyword, found in (answer.lists or {}).items()}
    return {"lists": lists, "words": list(answer.words), "overlap": {LITERAL: overlap}}


def _week_ten(task: Task, case: Case) -> Plain:
    """Table 4 of one case: trained on all weeks but the last, scored on the posts of the list in the last."""
    last = case.history.window(-1)
    policy = _policy(task, 1)
    found = measure_perplexity(
        case.history.span(0, -1),
        last.take(last.carrying(case.current)),
        seed=crc32(f"{task.settings.seed}/{case_name(task)}".encode()) % 2**31,
        settings=policy.of_model,
        recipe=KLDA.paper,
        min_count=policy.min_count,
        printed=True,
    )
    return found.to_dict()


def _policy(task: Task, top: int) -> KLDAPaper:
    policy = policy_for(task, LITERAL, top=top)
    assert isinstance(policy, KLDAPaper)
    return policy


_PARTS: dict[str, Callable[[Task, Case], Plain]] = {
    "facts": _data,
    "literal": _literal,
    "perplexity": _week_ten,
}
"""The parts of a case beside the answers of other policies. Each is written when it ends."""
