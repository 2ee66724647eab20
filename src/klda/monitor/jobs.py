"""Long work that others can watch and stop: its progress goes into the records as it goes on.

Whoever works on a job holds a lock of its own, which the kernel takes away when the process dies, however it dies.
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
"""How long a process may take from being started to holding its lock: where much goes on, what learns loads slowly."""
_EVERY = 1.0  # seconds between two reports of one stage
_DIED = "its process ended without a word; start it again"


@contextmanager
def recorded(
    monitor: Monitor, kind: str, progress: Progress, *, job: str | None = None
) -> Iterator[tuple[Progress, dict[str, Any]]]:
    """A progress callback that also records how far a job is, and a place for its result.

    The callback raises `Stopped` when somebody asks the job to stop. job: one that waits in the records; a new one,
    unless said.
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
                raise Stopped(f"{kind} of monitor {monitor.name} was stopped; start it again when it is wanted")

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
        with suppress(KldaError):  # what went wrong first is what to tell
            jobs.finish(name, error=error, **result)
        lock.unlink(missing_ok=True)


def recent(monitor: Monitor, limit: int = 100) -> list[Job]:
    """The newest jobs, newest first; those whose process has died are marked as failed."""
    jobs = monitor.records.jobs
    lost = [job for job in jobs.newest(limit) if is_lost(monitor, job)]
    for job in lost:
        jobs.finish(job.id, error=_DIED)
    return jobs.newest(limit)


def the_job(monitor: Monitor, name: str) -> Job:
    """One job; marked as failed when its process has died."""
    jobs = monitor.records.jobs
    found = jobs.get(name)
    if not is_lost(monitor, found):
        return found
    jobs.finish(name, error=_DIED)
    return jobs.get(name)


def is_lost(monitor: Monitor, job: Job) -> bool:
    """Whether nobody works on a job that has not ended."""
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
