"""A monitor as it stands: what flows in, what each keyword brings, what it is about."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from klda.errors import DataError
from klda.monitor.background import start
from klda.monitor.filter_sync import refusal
from klda.monitor.monitor import Monitor
from klda.monitor.volume_series import flow, now, yields
from klda.store.sql.journal import OPEN
from klda.store.sql.volume_records import Period
from klda.web.actions import delete_monitor, start_running, stop_running
from klda.web.charts.topics import name_of, topics_over_time
from klda.web.charts.volume import volume
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
    """The picture of volume alone, by windows, days or hours."""
    return render(request, "volume.html", monitor=monitor.name, **_volume(monitor, by))


@router.post("/run")
def run(monitor: TheMonitor, identity: Identity) -> Response:
    """Begins to collect."""
    start_running(monitor, identity)
    return RedirectResponse(f"/monitors/{monitor.name}", status_code=303)


@router.post("/stop")
def stop(monitor: TheMonitor, identity: Identity) -> Response:
    """Ends collecting; what has come is stored first."""
    stop_running(monitor, identity)
    return RedirectResponse(f"/monitors/{monitor.name}", status_code=303)


@router.post("/topics")
def learn(monitor: TheMonitor, identity: Identity) -> Response:
    """Begins to work out topics of the newest window."""
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
    """Deletes the monitor, where its name was typed; what stands in the way is said beside the form."""
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
    """What `monitor_base.html` shows on every page of a monitor."""
    waiting = monitor.records.proposals.waiting_id()
    settings = monitor.settings
    return {"monitor": monitor.name, "subject": settings.subject, "zone": settings.zone, "waiting": waiting is not None}


def _volume(monitor: Monitor, by: Period) -> dict[str, Any]:
    points = flow(monitor, by)
    return {"by": by, "volume_picture": volume(points, by, monitor.settings.zone) if points else None}
