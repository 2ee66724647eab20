"""Backtests: start one, watch or cancel it, and read its results."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Request, Response
from starlette.responses import RedirectResponse

from klda.errors import InputError
from klda.monitor.calendar import closed
from klda.monitor.jobs import recent
from klda.monitor.monitor import Monitor
from klda.monitor.own_backtest import DEFAULT, MOST_WINDOWS, Result, results
from klda.monitor.own_backtest import Request as BacktestRequest
from klda.policies.registry import policies
from klda.report.backtest_report import closed_view, open_view
from klda.store.sql.journal import OPEN
from klda.web.actions import PROPOSAL
from klda.web.api.backtests import begin, found
from klda.web.pages.monitor import frame
from klda.web.rendering import render
from klda.web.studio import Identity, TheMonitor

router = APIRouter()


@router.get("/monitors/{name}/backtest")
def backtests(request: Request, monitor: TheMonitor) -> Response:
    """The form, running backtests, and the newest result."""
    known = results(monitor)
    return _page(request, monitor, known, known[0] if known else None)


@router.get("/monitors/{name}/backtests/{backtest}")
def one(request: Request, monitor: TheMonitor, backtest: Annotated[str, Path(pattern=PROPOSAL)]) -> Response:
    """One result."""
    return _page(request, monitor, results(monitor), found(monitor, backtest))


@router.post("/monitors/{name}/backtest")
def begun(
    monitor: TheMonitor,
    identity: Identity,
    policy: Annotated[list[str], Form(default_factory=list, max_length=12)],
    loop: Annotated[Literal["open", "closed"], Form()] = "open",
    tests: Annotated[int, Form(ge=1, le=MOST_WINDOWS)] = 3,
) -> Response:
    """Starts a backtest."""
    if not policy:
        raise InputError("tick at least one policy to compare")
    begin(monitor, BacktestRequest(loop=loop, policies=tuple(policy), tests=tests), identity)
    return RedirectResponse(f"/monitors/{monitor.name}/backtest", status_code=303)


def _page(request: Request, monitor: Monitor, known: list[Result], shown: Result | None) -> Response:
    jobs = [job for job in recent(monitor, 30) if job.kind == "backtest"]
    content: dict[str, Any] = {
        **frame(monitor),
        "here": f"/monitors/{monitor.name}/backtest",
        "n_closed": len(closed(monitor)),
        "policies": list(policies()),
        "chosen": {monitor.settings.policy, *DEFAULT},
        "running": [job for job in jobs if job.state in OPEN],
        "failed": jobs[0] if jobs and jobs[0].state in ("failed", "cancelled") else None,
        "results": known,
        "shown": shown,
        "view": None,
    }
    if shown is not None:
        view = open_view if shown.request.loop == "open" else closed_view
        content["view"] = view(shown.summary)
    return render(request, "backtest.html", **content)
