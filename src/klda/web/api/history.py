"""The history of keywords, and of everything that was done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from klda.monitor.history import KeywordStory, history
from klda.safe_text import csv_text
from klda.web.api.models import AuditAnswer, StoryAnswer
from klda.web.studio import TheMonitor

router = APIRouter()

HEADER = ("keyword", "from", "until", "why it came", "decided by", "why it went", "ended by", "proposal")


@router.get("/monitors/{name}/history")
def keyword_history(monitor: TheMonitor) -> list[StoryAnswer]:
    """When each keyword was active, why it came and went, who decided, expected against realised posts."""
    return [StoryAnswer.model_validate(story) for story in history(monitor)]


@router.get(
    "/monitors/{name}/history.csv",
    response_class=Response,
    responses={
        200: {"description": "A table for spreadsheets.", "content": {"text/csv": {"schema": {"type": "string"}}}}
    },
)
def history_table(monitor: TheMonitor) -> Response:
    """The same as CSV; cells that a spreadsheet would run as a formula are defused."""
    body = csv_text(HEADER, (row for story in history(monitor) for row in _rows(story)))
    headers = {"Content-Disposition": f'attachment; filename="{monitor.name}-keywords.csv"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/monitors/{name}/audit")
def audit_log(
    monitor: TheMonitor, limit: Annotated[int, Query(ge=1, le=10_000, description="How many at most.")] = 200
) -> list[AuditAnswer]:
    """Who did what, newest first; nothing in it can be changed."""
    return [AuditAnswer.model_validate(entry) for entry in monitor.records.journal.entries(limit)]


def _rows(story: KeywordStory) -> Iterator[tuple[Any, ...]]:
    for span in story.spans:
        ended = span.ended.isoformat() if span.ended else ""
        yield (
            story.keyword,
            span.started.isoformat(),
            ended,
            span.reason,
            span.decided_by,
            span.end_reason or "",
            span.ended_by or "",
            span.proposal or "",
        )
