"""Backtests of a monitor on its own past."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, Field

from klda.errors import DataError
from klda.monitor.background import start
from klda.monitor.monitor import Monitor
from klda.monitor.own_backtest import Request, Result, asked, result, results
from klda.web.actions import PROPOSAL
from klda.web.api.answers import JobAnswer
from klda.web.api.jobs import answer_for
from klda.web.problems import documented
from klda.web.studio import Identity, TheMonitor

router = APIRouter()

BacktestId = Annotated[str, Path(pattern=PROPOSAL, description="Id of the backtest. Its job has the same id.")]


class BacktestSummary(BaseModel):
    """A finished backtest."""

    id: str
    made: datetime
    request: Request


class BacktestAnswer(BacktestSummary):
    """A backtest with its results: means with 95 % intervals."""

    summary: dict[str, Any] = Field(description="As `klda backtest --format json` prints it.")


@router.post("/monitors/{name}/backtests", status_code=202, responses=documented(409))
def begin_backtest(monitor: TheMonitor, request: Request, identity: Identity) -> JobAnswer:
    """Starts a backtest. Returns its job, which shows the progress and can be cancelled."""
    return answer_for(monitor, begin(monitor, request, identity))


@router.get("/monitors/{name}/backtests")
def list_backtests(monitor: TheMonitor) -> list[BacktestSummary]:
    """The finished backtests, newest first."""
    return [BacktestSummary(id=one.id, made=one.made, request=one.request) for one in results(monitor)]


@router.get("/monitors/{name}/backtests/{backtest}")
def show_backtest(monitor: TheMonitor, backtest: BacktestId) -> BacktestAnswer:
    """The results of a backtest."""
    one = found(monitor, backtest)
    return BacktestAnswer(id=one.id, made=one.made, request=one.request, summary=dict(one.summary))


def begin(monitor: Monitor, request: Request, identity: str) -> str:
    """The id of the job that runs a backtest."""
    checked = asked(request.model_dump())
    return start(monitor, "backtest", asked_by=identity, **checked.model_dump(mode="json"))


def found(monitor: Monitor, name: str) -> Result:
    """The backtest with this id. HTTP 404 if there is none."""
    try:
        return result(monitor, name)
    except DataError as error:
        raise HTTPException(404, f"there is no finished backtest {name!r}") from error
