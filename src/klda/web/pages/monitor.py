"""The pages of one monitor: state, history, and the form to delete it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from klda.errors import DataError
from klda.monitor.background import start
from klda.monitor.calendar import horizon
from klda.monitor.history import history
from klda.monitor.monitor import Monitor
from klda.monitor.overview import flow, now, yields
from klda.monitor.rules import refusal
from klda.store import KeywordSpan
from klda.store.sql.journal import OPEN
from klda.store.sql.volume_records import Period
from klda.web.actions import delete_monitor, start_running, stop_running
from klda.web.page_charts import evolution, name_of, outcomes, topics_over_time, volume
from klda.web.rendering import render
from klda.web.studio import Identity, TheMonitor, TheStudio

router = APIRouter(prefix="/monitors/{name}")


@router.get("")
def monitor_page(request: Request, monitor: TheMonitor, by: Period = "window") -> Response:
    """The page of a monitor."""
    found, zone = monitor.records.topics.latest(), monitor.settings.zone
    working = [job for job in monitor.records.jobs.newest(20) if job.state in OPEN and job.kind != "collect"]
    return render(
        request,
        "monitor.html",
        **frame(monitor),
        **_volume(monitor, by),
        now=now(monitor),
        yields=yields(monitor),
        exclusions=monitor.records.keywords.active().exclusions.texts,
        settings=monitor.settings,
        gaps=monitor.records.journal.gaps(),
        refused=refusal(monitor),
        topics=found,
        topics_picture=topics_over_time(found, zone) if found and len(found.windows) > 1 else None,
        name_of=name_of,
        working=working,
    )


@router.get("/volume")
def volume_part(request: Request, monitor: TheMonitor, by: Period = "window") -> Response:
    """The chart of volume alone, by windows, days or hours."""
    return render(request, "volume.html", monitor=monitor.name, **_volume(monitor, by))


@router.post("/run")
def run(monitor: TheMonitor, identity: Identity) -> Response:
    """Starts collecting."""
    start_running(monitor, identity)
    return RedirectResponse(f"/monitors/{monitor.name}", status_code=303)


@router.post("/stop")
def stop(monitor: TheMonitor, identity: Identity) -> Response:
    """Stops collecting, after all collected posts are stored."""
    stop_running(monitor, identity)
    return RedirectResponse(f"/monitors/{monitor.name}", status_code=303)


@router.post("/topics")
def learn(monitor: TheMonitor, identity: Identity) -> Response:
    """Starts to learn the topics of the newest window."""
    start(monitor, "topics", asked_by=identity)
    return RedirectResponse(f"/monitors/{monitor.name}", status_code=303)


@router.get("/delete")
def ask_to_delete(request: Request, monitor: TheMonitor) -> Response:
    """What would be deleted, and the form for it."""
    return _delete_form(request, monitor)


@router.post("/delete")
def delete(
    request: Request,
    studio: TheStudio,
    monitor: TheMonitor,
    identity: Identity,
    confirmed: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Deletes the monitor if its name was typed. Otherwise the form says what is wrong."""
    if confirmed.strip() != monitor.name:
        return _delete_form(request, monitor, f"type {monitor.name} to delete it", confirmed)
    try:
        delete_monitor(studio, monitor.name, identity)
    except DataError as error:
        return _delete_form(request, monitor, str(error), confirmed)
    return RedirectResponse("/", status_code=303)


def _delete_form(request: Request, monitor: Monitor, error: str | None = None, typed: str = "") -> Response:
    return render(
        request,
        "delete.html",
        status=422 if error else 200,
        **frame(monitor),
        posts=monitor.records.volume.total(),
        source=monitor.settings.source["kind"],
        shared=monitor.settings.storage.database is not None,
        error=error,
        typed=typed,
    )


def frame(monitor: Monitor) -> dict[str, Any]:
    """The values that `monitor_base.html` shows on every page of a monitor."""
    waiting = monitor.records.proposals.waiting_id()
    settings = monitor.settings
    return {"monitor": monitor.name, "subject": settings.subject, "zone": settings.zone, "waiting": waiting is not None}


def _volume(monitor: Monitor, by: Period) -> dict[str, Any]:
    points = flow(monitor, by)
    return {"by": by, "volume_picture": volume(points, by, monitor.settings.zone) if points else None}


@dataclass
class ListChange:
    """A change of the list, and who decided it."""

    at: datetime
    decided_by: str
    proposal: str | None = None
    came: list[KeywordSpan] = field(default_factory=list)
    went: list[KeywordSpan] = field(default_factory=list)


@router.get("/history")
def history_page(request: Request, monitor: TheMonitor) -> Response:
    """The page."""
    stories = history(monitor)
    found = [outcome for story in stories for outcome in story.outcomes]
    ended = {point.start for point in monitor.records.volume.series("window", keywords=[""])[:-1]}
    over = sorted(
        (o for o in found if o.window_start in ended), key=lambda o: (o.window_start, o.expected.mean), reverse=True
    )
    return render(
        request,
        "history.html",
        **frame(monitor),
        changes=changes([span for story in stories for span in story.spans]),
        picture=evolution(stories, _until(monitor)),
        outcomes=over[:200],
        outcomes_picture=outcomes(over, monitor.settings.zone) if over else None,
        within=sum(o.expected.low <= o.realised <= o.expected.high for o in over if o.realised is not None),
        n_outcomes=len(over),
        entries=monitor.records.journal.entries(30),
    )


def changes(spans: list[KeywordSpan]) -> list[ListChange]:
    """All changes of the list, newest first."""
    found: dict[datetime, ListChange] = {}
    for span in spans:
        change = found.setdefault(span.started, ListChange(span.started, span.decided_by, span.proposal))
        change.came.append(span)
        change.proposal = change.proposal or span.proposal
        if span.ended is not None:
            found.setdefault(span.ended, ListChange(span.ended, span.ended_by or "")).went.append(span)
    return sorted(found.values(), key=lambda change: change.at, reverse=True)


def _until(monitor: Monitor) -> datetime:
    """The end of the bars of active keywords: now, or for a replay the end of its last window."""
    newest = monitor.records.volume.newest("window", horizon(monitor))
    if monitor.settings.by_event_time and newest is not None:
        return monitor.windowing.holding(newest).end
    return monitor.clock()
