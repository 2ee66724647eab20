"""Backtests on a monitor's own past: which policy would have given the best advice.

In an open loop, every policy answers the same questions about past windows, and the next window judges the answers. In
a closed loop, each policy controls the filter from the first window on. That needs unfiltered posts, so it runs on the
sample.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from klda.errors import DataError, SettingError
from klda.monitor.calendar import closed
from klda.monitor.jobs import is_worked_on, recorded
from klda.monitor.monitor import Monitor
from klda.text.storage import save_corpus
from klda.types import Progress, Window, silent

if TYPE_CHECKING:  # the code that runs a backtest is imported when one runs
    from klda.evaluation.backtest import Task
    from klda.evaluation.subjects import Subject
    from klda.text.corpus import Corpus

DEFAULT = ("counting", "frequent", "random")
MOST_WINDOWS = 26
FEWEST_A_WINDOW = 20
"""The sampled posts with a first keyword that a window needs, on average, for a closed loop."""
TOPS = (2, 3)
_NAME = re.compile(r"[0-9a-f]{16}")


class Request(BaseModel):
    """The settings of a backtest."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    loop: Literal["open", "closed"] = Field(
        default="open", description="Open: all policies see the same history. Closed: each owns its filter."
    )
    policies: tuple[str, ...] = Field(
        default=DEFAULT, min_length=1, max_length=12, description="Policies to compare.", examples=[["klda", "random"]]
    )
    tests: int = Field(default=3, ge=1, le=MOST_WINDOWS, description="Open loop: how many of the last windows to test.")


@dataclass(frozen=True)
class Result:
    """A finished backtest."""

    id: str
    made: datetime
    request: Request
    summary: Mapping[str, Any]


def asked(values: Mapping[str, Any]) -> Request:
    """The request in plain data. SettingError if no monitor could run it."""
    try:
        request = Request.model_validate(dict(values))
    except ValidationError as error:
        found = error.errors()[0]
        raise SettingError(f"{'.'.join(map(str, found['loc']))}: {found['msg']}") from error
    from klda.policies.registry import policies

    unknown = [name for name in request.policies if name not in policies()]
    if unknown:
        raise SettingError(f"there is no policy {', '.join(unknown)}; choose from {', '.join(policies())}")
    return request


def backtest(
    monitor: Monitor, values: Mapping[str, Any], *, progress: Progress = silent, job: str | None = None
) -> Mapping[str, Any]:
    """The results, as `klda.evaluation.backtest_summary` sums them up. They are saved too."""
    from klda.evaluation.backtest import run
    from klda.evaluation.result_cache import write_result

    request = asked(values)
    name = job or monitor.records.jobs.add("backtest", **request.model_dump(mode="json"))
    work = _folder(monitor) / f".{name}"
    try:
        with recorded(monitor, "backtest", progress, job=name) as (report, result):
            report("reading posts", 0)
            cases = _cases(monitor, request, work)
            report("cases", 0, len(cases))
            found = list(run(cases, progress=report))
            summary = _summed(request, found, monitor.settings.seed)
            made = monitor.clock().isoformat()
            kept = {"made": made, "request": request.model_dump(mode="json"), "summary": summary}
            write_result(_folder(monitor) / f"{name}.json", kept)
            result["cases"] = len(cases)
            return summary
    finally:
        shutil.rmtree(work, ignore_errors=True)


def results(monitor: Monitor) -> list[Result]:
    """The finished backtests, newest first."""
    found = (_result(path) for path in _folder(monitor).glob("*.json") if _NAME.fullmatch(path.stem))
    return sorted(found, key=lambda result: result.made, reverse=True)


def result(monitor: Monitor, name: str) -> Result:
    """One finished backtest."""
    path = _folder(monitor) / f"{monitor.records.jobs.get(name).id}.json"  # an id from the records, not from a request
    if not path.is_file():
        raise DataError(f"backtest {name} has no results; its job says why")
    return _result(path)


def sweep_backtests(monitor: Monitor) -> None:
    """Deletes the posts that a killed backtest left behind."""
    for work in _folder(monitor).glob(".*"):
        if not is_worked_on(monitor, work.name.removeprefix(".")):
            shutil.rmtree(work, ignore_errors=True)


def _result(path: Path) -> Result:
    plain = json.loads(path.read_text(encoding="utf-8"))
    return Result(path.stem, datetime.fromisoformat(plain["made"]), Request(**plain["request"]), plain["summary"])


def _folder(monitor: Monitor) -> Path:
    return monitor.folder.path / "backtests"


def _cases(monitor: Monitor, request: Request, work: Path) -> list[Task]:
    from klda.evaluation.archive import Archive
    from klda.evaluation.backtest import BacktestSettings, tasks
    from klda.evaluation.subjects import Subject

    windows = closed(monitor)[-MOST_WINDOWS:]
    if len(windows) < 3:
        raise DataError(f"a backtest needs three closed windows; monitor {monitor.name} has {len(windows)}; wait")
    tests = min(request.tests, len(windows) - 2)
    settings = monitor.settings
    subject = Subject(monitor.name, settings.first_keywords(), subject=settings.subject)
    corpus = _corpus(monitor, request, windows, subject)
    save_corpus(corpus, work / "archive")
    how = BacktestSettings(
        policies=request.policies,
        loop=request.loop,
        weeks=min(settings.history, corpus.n_windows - tests),
        tops=TOPS,
        history="static",
        n_candidates=min(settings.candidates.size, 45),
        max_terms=settings.budget.max_terms or settings.budget.max_keywords or 2 * len(settings.keywords),
        seed=settings.seed,
        policy_settings={settings.policy: settings.policy_settings},
    )
    last = range(corpus.n_windows - tests, corpus.n_windows)
    return tasks(Archive(corpus), work / "archive", work, [subject], how, last)


def _corpus(monitor: Monitor, request: Request, windows: Sequence[Window], subject: Subject) -> Corpus:
    """All stored posts of these windows, or for a closed loop those of the unfiltered sample."""
    from klda.monitor.training_data import Both
    from klda.policies.recommend import MIN_COUNT
    from klda.text.corpus import Corpus

    store, settings = monitor.posts(), monitor.settings
    sample = store.read(windows, sample=True)
    posts = sample if request.loop == "closed" else Both(store.read(windows), sample)
    if request.loop == "closed" and not len(sample):
        raise DataError("a closed loop needs an unfiltered sample, and this monitor has none; choose an open loop")
    text = replace(settings.text(), min_count=min(settings.text().min_count, MIN_COUNT))
    corpus = Corpus.from_posts(
        posts, subject.keywords, window=monitor.windowing, settings=text, adjacent=settings.adjacent
    )
    if request.loop == "closed" and len(corpus) < FEWEST_A_WINDOW * corpus.n_windows:
        raise DataError(
            f"the unfiltered sample has {len(corpus):,} posts with a first keyword in {corpus.n_windows} windows; a "
            f"closed loop needs {FEWEST_A_WINDOW} a window; choose an open loop"
        )
    if corpus.n_windows < 3:
        raise DataError("fewer than three windows have posts; wait for more")
    return corpus


def _summed(request: Request, found: list[dict[str, Any]], seed: int) -> Mapping[str, Any]:
    from klda.evaluation.backtest_summary import closed_summary, open_summary

    if request.loop == "closed":
        return closed_summary(found, request.policies, seed=seed)
    found.sort(key=lambda case: (case["week"], case["subject"]))
    return open_summary(found, request.policies, TOPS, seed=seed)
