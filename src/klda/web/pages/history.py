"""The history of a monitor: who came, who went, why, and whether what was expected came."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from fastapi import APIRouter, Request, Response

from klda.monitor.history import history
from klda.monitor.monitor import Monitor
from klda.monitor.replay_clock import horizon
from klda.store import KeywordSpan
from klda.web.charts.evolution import evolution
from klda.web.charts.outcomes import outcomes
from klda.web.pages.monitor import frame
from klda.web.rendering import render
from klda.web.studio import TheMonitor

router = APIRouter(prefix="/monitors/{name}")


@dataclass
class ListChange:
    """What changed at one time, and who decided it."""

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
    """Every time at which the list changed, newest first."""
    found: dict[datetime, ListChange] = {}
    for span in spans:
        change = found.setdefault(span.started, ListChange(span.started, span.decided_by, span.proposal))
        change.came.append(span)
        change.proposal = change.proposal or span.proposal
        if span.ended is not None:
            found.setdefault(span.ended, ListChange(span.ended, span.ended_by or "")).went.append(span)
    return sorted(found.values(), key=lambda change: change.at, reverse=True)


def _until(monitor: Monitor) -> datetime:
    """Where bars of active keywords end: now, or, of a replay, where its last window does."""
    newest = monitor.records.volume.newest("window", horizon(monitor))
    if monitor.settings.by_event_time and newest is not None:
        return monitor.windowing.holding(newest).end
    return monitor.clock()
