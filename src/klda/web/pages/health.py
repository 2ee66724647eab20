"""For machines that watch the studio: whether it lives, and how it does."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from klda.web.metrics import Metrics

router = APIRouter()


@router.get("/healthz")
async def healthz() -> PlainTextResponse:
    """Whether the studio answers; says nothing about what it holds, as anybody may ask."""
    return PlainTextResponse("ok\n")


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Counts in the text format of Prometheus."""
    found: Metrics = request.app.state.metrics
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)
