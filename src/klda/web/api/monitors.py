"""Monitors and how they stand."""

from __future__ import annotations

from fastapi import APIRouter

from klda.web.studio import TheStudio

router = APIRouter()


@router.get("/monitors")
def monitors(studio: TheStudio) -> list[str]:
    """The names of all monitors."""
    return [monitor.name for monitor in studio.monitors()]
