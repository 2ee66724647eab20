"""The page of jobs: what runs, how far it is, what failed and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from fastapi import APIRouter, Request, Response

from klda.monitor.background import cancel
from klda.monitor.jobs import recent
from klda.monitor.monitor import Monitor
from klda.monitor.overview import Unreadable
from klda.store import Job
from klda.store.sql.journal import OPEN
from klda.web.api.jobs import JobId, found
from klda.web.rendering import render
from klda.web.studio import Identity, TheMonitor, TheStudio

router = APIRouter()

SHOWN = 60


@dataclass(frozen=True)
class JobHealth:
    """A readable monitor with its newest jobs."""

    name: str
    running: bool
    jobs: list[Job]


@dataclass(frozen=True)
class JobRow:
    """A job and the name of its monitor."""

    monitor: str
    job: Job

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.job.state in OPEN


@router.get("/jobs")
def jobs_page(request: Request, studio: TheStudio) -> Response:
    """The page."""
    health = studio.each(_health)
    rows = _rows(health)
    return render(request, "jobs.html", rows=rows, seen=_stamp(rows), health=health)


@router.get("/jobs/list")
def jobs_list(request: Request, studio: TheStudio, seen: str = "") -> Response:
    """The list of jobs, for a page that updates itself. Empty if nothing has changed."""
    rows = _rows(studio.each(_health))
    if seen == _stamp(rows):
        return Response(status_code=204)
    return render(request, "jobs_list.html", rows=rows, seen=_stamp(rows))


@router.post("/monitors/{name}/jobs/{job}/cancel")
def cancel_job(request: Request, studio: TheStudio, monitor: TheMonitor, job: JobId, identity: Identity) -> Response:
    """Asks a job to stop."""
    found(monitor, job)
    cancel(monitor, job, asked_by=identity)
    rows = _rows(studio.each(_health))
    return render(request, "jobs_list.html", rows=rows, seen=_stamp(rows))


def _health(monitor: Monitor) -> JobHealth:
    return JobHealth(monitor.name, monitor.folder.being_written, recent(monitor, SHOWN))


def _rows(health: Sequence[JobHealth | Unreadable]) -> list[JobRow]:
    rows = [JobRow(one.name, job) for one in health if isinstance(one, JobHealth) for job in one.jobs]
    return sorted(rows, key=lambda row: (row.is_open, row.job.created), reverse=True)[:SHOWN]


def _stamp(rows: list[JobRow]) -> str:
    """A stamp that changes when the list does."""
    facts = [(row.job.id, row.job.state, row.job.stage, row.job.done, row.job.cancelled) for row in rows]
    return sha256(repr(facts).encode()).hexdigest()[:16]
