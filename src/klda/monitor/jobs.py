"""Long work that others can watch and stop: its progress goes into the records as it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from klda.errors import KldaError, Stopped
from klda.monitor.monitor import Monitor
from klda.types import Progress

_EVERY = 1.0  # seconds between two reports of one stage


@contextmanager
def recorded(monitor: Monitor, kind: str, progress: Progress) -> Iterator[Progress]:
    """A progress callback that also records how far a job is, and raises `Stopped` when somebody asks it to stop."""
    jobs = monitor.records.jobs
    job, last = jobs.add(kind), ("", 0.0)

    def report(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        nonlocal last
        progress(stage, done, total, **facts)
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= _EVERY:
            last = (stage, now)
            if not jobs.report(job, stage, done, total):
                raise Stopped(f"{kind} of monitor {monitor.name} was stopped; start it again when it is wanted")

    error: str | None = None
    try:
        yield report
    except Exception as failure:
        error = str(failure) or type(failure).__name__
        raise
    finally:
        with suppress(KldaError):  # what went wrong first is what to tell
            jobs.finish(job, error=error)
