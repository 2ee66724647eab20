"""Monitors: state, volume, topics, history, live counts, and the session of a program."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field

from klda.monitor.background import start
from klda.monitor.history import KeywordStory, history
from klda.monitor.overview import Unreadable, flow, overview, yields
from klda.safe_text import csv_text
from klda.web.actions import delete_monitor, make_monitor, start_running
from klda.web.api.answers import (
    AuditAnswer,
    FlowAnswer,
    GapAnswer,
    JobAnswer,
    MonitorAnswer,
    Period,
    StoryAnswer,
    TopicsAnswer,
    UnreadableAnswer,
    YieldAnswer,
)
from klda.web.api.jobs import answer_for
from klda.web.counts import Hub
from klda.web.forms import MonitorForm
from klda.web.problems import documented
from klda.web.studio import Identity, TheMonitor, TheStudio

monitor_routes = APIRouter()


@monitor_routes.get("/monitors")
def list_monitors(studio: TheStudio) -> list[MonitorAnswer | UnreadableAnswer]:
    """All monitors, by name. For those that cannot be read: the reason."""
    return [
        UnreadableAnswer.model_validate(one) if isinstance(one, Unreadable) else MonitorAnswer.model_validate(one)
        for one in studio.each(overview)
    ]


@monitor_routes.post("/monitors", status_code=201)
def create_monitor(form: MonitorForm, studio: TheStudio, identity: Identity, response: Response) -> MonitorAnswer:
    """Makes a monitor. Sources in the private network are refused unless the studio allows them.

    Files come by upload.
    """
    name = make_monitor(studio, form, identity)
    response.headers["Location"] = f"/api/v1/monitors/{name}"
    return MonitorAnswer.model_validate(overview(studio.monitor(name)))


@monitor_routes.get("/monitors/{name}")
def show_monitor(monitor: TheMonitor) -> MonitorAnswer:
    """The state of a monitor."""
    return MonitorAnswer.model_validate(overview(monitor))


@monitor_routes.delete("/monitors/{name}", status_code=204, responses=documented(409))
def remove_monitor(monitor: TheMonitor, studio: TheStudio, identity: Identity) -> Response:
    """Deletes a monitor for good: its posts, its records and its folder. 409 while a process or a job works for it."""
    delete_monitor(studio, monitor.name, identity)
    return Response(status_code=204)


@monitor_routes.get("/monitors/{name}/volume")
def volume(
    monitor: TheMonitor, by: Annotated[Period, Query(description="Period: window, day or hour.")] = "window"
) -> list[FlowAnswer]:
    """Posts over time by keyword, for the newest 26 windows, 31 days or 48 hours."""
    return [FlowAnswer.model_validate(point) for point in flow(monitor, by)]


@monitor_routes.get("/monitors/{name}/keywords")
def keywords(monitor: TheMonitor) -> list[YieldAnswer]:
    """The posts that each active keyword brings, and how many of them other keywords bring too."""
    return [YieldAnswer.model_validate(one) for one in yields(monitor)]


@monitor_routes.get("/monitors/{name}/topics")
def topics(monitor: TheMonitor) -> TopicsAnswer:
    """The topics of the newest windows. 404 until the first window has closed."""
    found = monitor.records.topics.latest()
    if found is None:
        raise HTTPException(404, "no topics yet: they are learned when a window closes")
    return TopicsAnswer.model_validate(found)


@monitor_routes.post("/monitors/{name}/topics", status_code=202, responses=documented(409))
def learn_topics(monitor: TheMonitor, identity: Identity) -> JobAnswer:
    """Starts to learn the topics of the newest window, with the posts so far."""
    return answer_for(monitor, start(monitor, "topics", asked_by=identity))


@monitor_routes.post("/monitors/{name}/run", status_code=202, responses=documented(409))
def run_monitor(monitor: TheMonitor, identity: Identity) -> MonitorAnswer:
    """Starts collecting. 409 if it is running already. To stop it, cancel the job `collect`."""
    start_running(monitor, identity)
    return MonitorAnswer.model_validate(overview(monitor))


@monitor_routes.get("/monitors/{name}/gaps")
def gaps(monitor: TheMonitor) -> list[GapAnswer]:
    """Times in which the source delivered nothing."""
    return [GapAnswer.model_validate(gap) for gap in monitor.records.journal.gaps()]


history_routes = APIRouter()

HEADER = ("keyword", "from", "until", "why it came", "decided by", "why it went", "ended by", "proposal")


@history_routes.get("/monitors/{name}/history")
def keyword_history(monitor: TheMonitor) -> list[StoryAnswer]:
    """When each keyword was active, why it was added and dropped, who decided, and expected and actual posts."""
    return [StoryAnswer.model_validate(story) for story in history(monitor)]


@history_routes.get(
    "/monitors/{name}/history.csv",
    response_class=Response,
    responses={
        200: {"description": "A table for spreadsheets.", "content": {"text/csv": {"schema": {"type": "string"}}}}
    },
)
def history_table(monitor: TheMonitor) -> Response:
    """The same as CSV. Cells that a spreadsheet would run as a formula are made harmless."""
    body = csv_text(HEADER, (row for story in history(monitor) for row in _rows(story)))
    headers = {"Content-Disposition": f'attachment; filename="{monitor.name}-keywords.csv"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


@history_routes.get("/monitors/{name}/audit")
def audit_log(
    monitor: TheMonitor, limit: Annotated[int, Query(ge=1, le=10_000, description="Largest number of entries.")] = 200
) -> list[AuditAnswer]:
    """Who did what, newest first. Entries cannot be changed."""
    return [AuditAnswer.model_validate(entry) for entry in monitor.records.journal.entries(limit)]


def _rows(story: KeywordStory) -> Iterator[tuple[Any, ...]]:
    for span in story.spans:
        ended = span.ended.isoformat() if span.ended else ""
        yield (
            story.keyword,
            span.started.isoformat(),
            ended,
            span.reason,
            span.decided_by,
            span.end_reason or "",
            span.ended_by or "",
            span.proposal or "",
        )


live_routes = APIRouter()


@live_routes.get("/monitors/{name}/live", response_class=EventSourceResponse)
async def live(request: Request, monitor: TheMonitor, hub: Hub) -> AsyncIterator[ServerSentEvent]:
    """Events with `total`, `window` (posts of the newest window), `state` and `failure`, when they change."""
    async for event in hub.events(request, monitor):
        yield event


session_routes = APIRouter()


class SessionState(BaseModel):
    """The session. Its cookie comes with the answer."""

    identity: str = Field(description="Your name. Decisions are recorded under it.")
    csrf: str = Field(description="Send it as header X-CSRF-Token with every request that changes something.")


@session_routes.get("/session")
async def session(request: Request, identity: Identity) -> SessionState:
    """Your name, and the token against forged requests. It is not needed with `Authorization: Bearer …`."""
    return SessionState(identity=identity, csrf=request.scope["state"]["csrf"])
