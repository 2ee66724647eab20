"""Monitors, how they stand, what flows in, and what it is about."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from klda.monitor.background import start
from klda.monitor.overview import Unreadable, overview
from klda.monitor.volume_series import flow, yields
from klda.web.actions import delete_monitor, make_monitor, start_running
from klda.web.api.jobs import answer_for
from klda.web.api.models import (
    FlowAnswer,
    GapAnswer,
    JobAnswer,
    MonitorAnswer,
    Period,
    TopicsAnswer,
    UnreadableAnswer,
    YieldAnswer,
)
from klda.web.forms import MonitorForm
from klda.web.problems import documented
from klda.web.studio import Identity, TheMonitor, TheStudio

router = APIRouter()


@router.get("/monitors")
def list_monitors(studio: TheStudio) -> list[MonitorAnswer | UnreadableAnswer]:
    """All monitors, by name; of those that cannot be read, why not."""
    return [
        UnreadableAnswer.model_validate(one) if isinstance(one, Unreadable) else MonitorAnswer.model_validate(one)
        for one in studio.each(overview)
    ]


@router.post("/monitors", status_code=201)
def create_monitor(form: MonitorForm, studio: TheStudio, identity: Identity, response: Response) -> MonitorAnswer:
    """Makes a monitor. Sources in the own network are refused unless the studio allows them; files come by upload."""
    name = make_monitor(studio, form, identity)
    response.headers["Location"] = f"/api/v1/monitors/{name}"
    return MonitorAnswer.model_validate(overview(studio.monitor(name)))


@router.get("/monitors/{name}")
def show_monitor(monitor: TheMonitor) -> MonitorAnswer:
    """How a monitor stands."""
    return MonitorAnswer.model_validate(overview(monitor))


@router.delete("/monitors/{name}", status_code=204, responses=documented(409))
def remove_monitor(monitor: TheMonitor, studio: TheStudio, identity: Identity) -> Response:
    """Deletes a monitor for good: its posts, its records and its folder; 409 while something works for it."""
    delete_monitor(studio, monitor.name, identity)
    return Response(status_code=204)


@router.get("/monitors/{name}/volume")
def volume(
    monitor: TheMonitor, by: Annotated[Period, Query(description="Of windows, days or hours.")] = "window"
) -> list[FlowAnswer]:
    """Posts over time by keyword: the newest 26 windows, 31 days or 48 hours."""
    return [FlowAnswer.model_validate(point) for point in flow(monitor, by)]


@router.get("/monitors/{name}/keywords")
def keywords(monitor: TheMonitor) -> list[YieldAnswer]:
    """What each active keyword brings, and how much of it others bring too."""
    return [YieldAnswer.model_validate(one) for one in yields(monitor)]


@router.get("/monitors/{name}/topics")
def topics(monitor: TheMonitor) -> TopicsAnswer:
    """What the newest windows were about; 404 until the first one has closed."""
    found = monitor.records.topics.latest()
    if found is None:
        raise HTTPException(404, "no topics yet: they are worked out when a window closes")
    return TopicsAnswer.model_validate(found)


@router.post("/monitors/{name}/topics", status_code=202, responses=documented(409))
def learn_topics(monitor: TheMonitor, identity: Identity) -> JobAnswer:
    """Begins to work out the topics of the newest window, as far as it has come."""
    return answer_for(monitor, start(monitor, "topics", asked_by=identity))


@router.post("/monitors/{name}/run", status_code=202, responses=documented(409))
def run_monitor(monitor: TheMonitor, identity: Identity) -> MonitorAnswer:
    """Begins to collect; 409 where that goes on already. Cancel the job `collect` to stop it."""
    start_running(monitor, identity)
    return MonitorAnswer.model_validate(overview(monitor))


@router.get("/monitors/{name}/gaps")
def gaps(monitor: TheMonitor) -> list[GapAnswer]:
    """Stretches of time that the source did not deliver."""
    return [GapAnswer.model_validate(gap) for gap in monitor.records.journal.gaps()]
