"""Uploads: files of posts, and monitors that are made from them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from klda.errors import InputError
from klda.monitor.background import start
from klda.monitor.create import create_from_upload
from klda.monitor.monitor import Monitor
from klda.monitor.uploads import Preview, discard, preview, receive
from klda.web.api.answers import JobAnswer
from klda.web.api.jobs import answer_for
from klda.web.forms import NewMonitor, name_taken
from klda.web.problems import documented
from klda.web.studio import Identity, Studio, TheStudio

router = APIRouter()

UploadId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="Id of the upload.")]
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The bytes of a file: JSON lines, JSON, CSV or Parquet, also compressed with gzip or Zstandard.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class FirstPost(BaseModel):
    """A post in the file. Its text is from a stranger."""

    id: str
    time: str
    author: str | None
    text: str


class UploadAnswer(BaseModel):
    """The content of an upload."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    size: int = Field(description="Bytes.")
    lines: int = Field(description="Records of the file.")
    posts: int
    duplicates: int
    bad: dict[str, int] = Field(description="Records that should have been posts, by reason.")
    skipped: dict[str, int] = Field(description="Records that are not posts, by reason.")
    examples: list[str] = Field(description="The first bad records.")
    start: str = Field(description="Time of the earliest post.")
    end: str = Field(description="Time of the latest post.")
    first: list[FirstPost]
    language: str = Field(description="Language of most posts.")
    suggestions: list[str] = Field(description="Frequent words, as keywords to start with.")


class UploadForm(NewMonitor):
    """The form for a new monitor from an upload."""

    policy: str = Field(default="klda", max_length=50, description="Who proposes.")


@router.post("/uploads", status_code=201, openapi_extra=BODY, responses=documented(413))
async def upload(
    request: Request,
    studio: TheStudio,
    timezone: Annotated[str | None, Query(max_length=100, description="Zone of times without a zone.")] = None,
    date_format: Annotated[str | None, Query(max_length=100, description="Format of times: %d/%m/%Y %H:%M.")] = None,
) -> UploadAnswer:
    """Takes a file of posts and returns its content. It is kept for a day, until a monitor is made from it."""
    home = studio.settings.home
    name = await receive(home, request.stream(), studio.settings.max_upload)
    look = partial(preview, home, name, timezone=timezone, date_format=date_format)
    return UploadAnswer.model_validate(await run_in_threadpool(look))


@router.get("/uploads/{upload}")
def show_upload(upload: UploadId, studio: TheStudio) -> UploadAnswer:
    """The content of an upload."""
    return UploadAnswer.model_validate(seen(studio, upload))


@router.delete("/uploads/{upload}", status_code=204)
def delete_upload(upload: UploadId, studio: TheStudio) -> Response:
    """Deletes an upload."""
    discard(studio.settings.home, seen(studio, upload).id)
    return Response(status_code=204)


@router.post("/uploads/{upload}/monitor", status_code=202, responses=documented(409))
def make_of_upload(upload: UploadId, form: UploadForm, studio: TheStudio, identity: Identity) -> JobAnswer:
    """Makes a monitor from an upload. Its job stores the posts, closes the windows and makes the first proposal."""
    return answer_for(*begin(studio, upload, form, identity))


def seen(studio: Studio, upload: str) -> Preview:
    """The content of an upload. HTTP 404 if there is none."""
    try:
        return preview(studio.settings.home, upload)
    except InputError as error:
        raise HTTPException(404, str(error)) from error


def begin(studio: Studio, upload: str, form: UploadForm, identity: str) -> tuple[Monitor, str]:
    """The new monitor, and the id of the job that stores its posts."""
    seen(studio, upload)
    if studio.has(form.name):
        raise name_taken()
    values = form.values() | {"policy": form.policy}
    create_from_upload(studio.settings.home, form.name, upload, values, created_by=identity)
    monitor = studio.monitor(form.name)
    return monitor, start(monitor, "create", asked_by=identity)
