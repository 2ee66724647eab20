"""The live counter of a monitor, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter, HTTPException, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from klda.web.live import MOST_WATCHERS, Live
from klda.web.studio import TheMonitor

router = APIRouter()


@router.get("/monitors/{name}/live", response_class=EventSourceResponse)
async def live(request: Request, monitor: TheMonitor) -> AsyncIterator[ServerSentEvent]:
    """Events with `total`, `window` (posts of the newest window) and `state`, as they change."""
    hub: Live = request.app.state.live
    if hub.watchers >= MOST_WATCHERS:
        raise HTTPException(503, "too many watch already; reload later")
    async for event in hub.events(request, monitor):
        yield event
