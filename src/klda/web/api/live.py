"""The live counter of a monitor, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from klda.web.live import MOST_WATCHERS, Live
from klda.web.studio import TheMonitor

router = APIRouter()


async def _hub(request: Request) -> Live:
    hub: Live = request.app.state.live
    if hub.watchers >= MOST_WATCHERS:
        raise HTTPException(503, "too many watch already; reload later")
    return hub


Hub = Annotated[Live, Depends(_hub)]
"""Who keeps count of those who watch; a dependency, as an answer that has begun cannot be a refusal any more."""


@router.get("/monitors/{name}/live", response_class=EventSourceResponse)
async def live(request: Request, monitor: TheMonitor, hub: Hub) -> AsyncIterator[ServerSentEvent]:
    """Events with `total`, `window` (posts of the newest window), `state` and `failure`, as they change."""
    async for event in hub.events(request, monitor):
        yield event
