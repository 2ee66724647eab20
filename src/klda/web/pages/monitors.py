"""The first page: all monitors."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from klda.monitor.overview import overview
from klda.web.rendering import render
from klda.web.studio import TheStudio

router = APIRouter()


@router.get("/")
def monitors(request: Request, studio: TheStudio) -> Response:
    """All monitors of the home."""
    return render(request, "monitors.html", monitors=[overview(monitor) for monitor in studio.monitors()])
