"""Jobs: their state, progress and errors, events about them, and cancelling."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from klda.errors import DataError, KldaError
from klda.monitor.background import cancel
from klda.monitor.jobs import recent, the_job
from klda.monitor.monitor import Monitor
from klda.monitor.overview import Unreadable
from klda.store import Job
from klda.store.sql.journal import OPEN
from klda.web.api.answers import JobAnswer
from klda.web.counts import Hub
from klda.web.studio import Identity, TheMonitor, TheStudio

job_routes = APIRouter()

JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="Id of the job.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Largest number of jobs for each monitor.")]


@job_routes.get("/jobs")
def all_jobs(studio: TheStudio, limit: Limit = 50) -> list[JobAnswer]:
    """The newest jobs of all readable monitors, newest first."""
    looks = studio.each(lambda monitor: jobs_of(monitor, limit))
    found = [job for jobs in looks if not isinstance(jobs, Unreadable) for job in jobs]
    return sorted(found, key=lambda job: job.created, reverse=True)


@job_routes.get("/monitors/{name}/jobs")
def jobs_of(monitor: TheMonitor, limit: Limit = 50) -> list[JobAnswer]:
    """The newest jobs of a monitor, newest first."""
    return [answer_for(monitor, job.id, job) for job in recent(monitor, limit)]


@job_routes.get("/monitors/{name}/jobs/{job}")
def show_job(monitor: TheMonitor, job: JobId) -> JobAnswer:
    """A job."""
    return answer_for(monitor, job)


@job_routes.post("/monitors/{name}/jobs/{job}/cancel", status_code=202)
def cancel_job(monitor: TheMonitor, job: JobId, identity: Identity) -> JobAnswer:
    """Asks a job to stop, which it does at its next progress report. A job that has ended does not change."""
    found(monitor, job)
    cancel(monitor, job, asked_by=identity)
    return answer_for(monitor, job)


def found(monitor: Monitor, name: str) -> Job:
    """The job with this id. HTTP 404 if there is none."""
    try:
        return the_job(monitor, name)
    except DataError as error:
        raise HTTPException(404, str(error)) from error


def answer_for(monitor: Monitor, name: str, job: Job | None = None) -> JobAnswer:
    """The answer about a job. It is read from the records unless given."""
    return JobAnswer.model_validate(asdict(job or found(monitor, name)) | {"monitor": monitor.name})


job_event_routes = APIRouter()

EVERY = 0.5
"""Seconds between two looks."""


def _known(monitor: TheMonitor, job: JobId) -> str:
    return found(monitor, job).id


KnownJob = Annotated[str, Depends(_known)]
"""The id of an existing job. It is checked before the answer starts, so that HTTP 404 is still possible."""


@job_event_routes.get("/monitors/{name}/jobs/{job}/events", response_class=EventSourceResponse)
async def job_events(
    request: Request, studio: TheStudio, monitor: TheMonitor, job: KnownJob, hub: Hub
) -> AsyncIterator[ServerSentEvent]:
    """Events with the job whenever it changes.

    The last event has its final state, or `gone` if its monitor was deleted.
    """
    sent: JobAnswer | None = None
    with hub.watched():
        while not (hub.over or await request.is_disconnected()):
            try:
                if not studio.has(monitor.name):
                    raise HTTPException(404)
                told = await asyncio.to_thread(answer_for, monitor, job)
            except (KldaError, HTTPException):  # somebody cancelled the making of this monitor, so it was deleted
                yield ServerSentEvent(event="gone", data={})
                return
            if told != sent:
                sent = told
                yield ServerSentEvent(data=told)
            if told.state not in OPEN:
                return
            await asyncio.sleep(EVERY)
