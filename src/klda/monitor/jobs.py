"""Long work that others can watch and cancel. The database shows its progress.

A process that works on a job holds a lock. The kernel releases it when the process dies, for whatever reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from klda.errors import KldaError, Stopped
from klda.monitor.monitor import Monitor
from klda.store import Job, only_writer
from klda.store.monitor_folders import is_held
from klda.store.sql.journal import OPEN
from klda.types import Progress

GRACE = timedelta(seconds=60)
"""Time between the start of a process and its lock. On a busy machine, libraries of learning load slowly."""
_EVERY = 1.0  # seconds between two progress reports of one stage
_DIED = "its process died; start it again"


@contextmanager
def recorded(
    monitor: Monitor, kind: str, progress: Progress, *, job: str | None = None
) -> Iterator[tuple[Progress, dict[str, Any]]]:
    """Yields a progress callback that also records the progress, and a dictionary for the result.

    The callback raises `Stopped` if somebody cancels the job. job: the id of a waiting job. The default is a new one.
    """
    jobs = monitor.records.jobs
    name, last = job or jobs.add(kind), ("", 0.0)
    result: dict[str, Any] = {}

    def report(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        nonlocal last
        progress(stage, done, total, **facts)
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= _EVERY:
            last = (stage, now)
            if not jobs.report(name, stage, done, total):
                raise Stopped(f"{kind} of monitor {monitor.name} was cancelled; start it again if you need it")

    error: str | None = None
    lock = _lock(monitor, name)
    lock.parent.mkdir(exist_ok=True)
    try:
        with only_writer(lock):
            report("start", 0)
            yield report, result
    except BaseException as failure:
        error = str(failure) or type(failure).__name__
        raise
    finally:
        with suppress(KldaError):  # the first error is the one to report
            jobs.finish(name, error=error, **result)
        lock.unlink(missing_ok=True)


def recent(monitor: Monitor, limit: int = 100) -> list[Job]:
    """The newest jobs, newest first. A job whose process died is marked as failed."""
    jobs = monitor.records.jobs
    lost = [job for job in jobs.newest(limit) if is_lost(monitor, job)]
    for job in lost:
        jobs.finish(job.id, error=_DIED)
    return jobs.newest(limit)


def the_job(monitor: Monitor, name: str) -> Job:
    """One job. It is marked as failed if its process died."""
    jobs = monitor.records.jobs
    found = jobs.get(name)
    if not is_lost(monitor, found):
        return found
    jobs.finish(name, error=_DIED)
    return jobs.get(name)


def is_lost(monitor: Monitor, job: Job) -> bool:
    """Whether a job has not ended although no process works on it."""
    if job.state not in OPEN or monitor.clock() - job.changed < GRACE:
        return False
    if job.kind == "collect":  # it holds the monitor's own lock
        return not monitor.folder.being_written
    return not is_worked_on(monitor, job.id)


def is_worked_on(monitor: Monitor, job: str) -> bool:
    """Whether a process works on a job now."""
    return is_held(_lock(monitor, job))


def _lock(monitor: Monitor, job: str) -> Path:
    return monitor.folder.path / "jobs" / f"{job}.lock"
