"""How far a job is, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from klda.errors import KldaError
from klda.store.sql.journal import OPEN
from klda.web.api.jobs import JobId, answer_for, found
from klda.web.api.live import Hub
from klda.web.api.models import JobAnswer
from klda.web.studio import TheMonitor, TheStudio

router = APIRouter()

EVERY = 0.5
"""Seconds between two looks."""


def _known(monitor: TheMonitor, job: JobId) -> str:
    return found(monitor, job).id


KnownJob = Annotated[str, Depends(_known)]
"""The id of a job that there is; looked up before the answer begins, so that it can still be 404."""


@router.get("/monitors/{name}/jobs/{job}/events", response_class=EventSourceResponse)
async def job_events(
    request: Request, studio: TheStudio, monitor: TheMonitor, job: KnownJob, hub: Hub
) -> AsyncIterator[ServerSentEvent]:
    """Events with the job whenever it changes; the last one has the state it ended in, or `gone` with its monitor."""
    sent: JobAnswer | None = None
    with hub.watched():
        while not (hub.over or await request.is_disconnected()):
            try:
                if not studio.has(monitor.name):
                    raise HTTPException(404)
                told = await asyncio.to_thread(answer_for, monitor, job)
            except (KldaError, HTTPException):  # its making was stopped, so it never was
                yield ServerSentEvent(event="gone", data={})
                return
            if told != sent:
                sent = told
                yield ServerSentEvent(data=told)
            if told.state not in OPEN:
                return
            await asyncio.sleep(EVERY)
