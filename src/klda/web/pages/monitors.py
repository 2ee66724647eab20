"""The first page with all monitors, and forms for new ones: on a stream, or from a file of posts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from klda.errors import DataError, SettingError
from klda.monitor.overview import Overview, overview
from klda.policies.registry import policies
from klda.text.languages import LANGUAGES
from klda.web.actions import make_monitor
from klda.web.api.uploads import UploadForm, begin, seen
from klda.web.forms import MonitorForm, in_words, parsed
from klda.web.guard import CSRF_FIELD
from klda.web.problems import WrongFields
from klda.web.rendering import render
from klda.web.studio import Identity, TheStudio

WIDTH, HEIGHT = 240, 44
_EDGE = 3


def sparkline(values: Sequence[float]) -> tuple[str, str]:
    """The path of a line through the values, and of the area below it, in a box of 240 × 44.

    >>> sparkline([0, 10])
    ('M3 41L237 3', 'M3 41L237 3L237 44L3 44Z')
    """
    if not values:
        return "", ""
    highest = max(max(values), 1)
    step = (WIDTH - 2 * _EDGE) / max(len(values) - 1, 1)
    points = [
        f"{round(_EDGE + i * step, 1):g} {round(HEIGHT - _EDGE - value / highest * (HEIGHT - 2 * _EDGE), 1):g}"
        for i, value in enumerate(values)
    ]
    if len(points) == 1:
        points.append(f"{WIDTH - _EDGE} {points[0].split()[1]}")
    line = "M" + "L".join(points)
    return line, f"{line}L{WIDTH - _EDGE} {HEIGHT}L{_EDGE} {HEIGHT}Z"


router = APIRouter()

SOURCES = {
    "jetstream": "Bluesky: every post, by its Jetstream",
    "mastodon": "Mastodon: the public timeline of a server",
    "x": "X: the filtered stream (a token is needed)",
    "kafka": "Kafka: posts from a topic of your own",
}


@router.get("/")
def monitors(request: Request, studio: TheStudio) -> Response:
    """All monitors in the home folder."""
    found = studio.each(overview)
    readable = [one for one in found if isinstance(one, Overview)]
    lines = {one.name: sparkline([window["posts"] for window in one.windows]) for one in readable}
    return render(request, "monitors.html", monitors=found, lines=lines)


@router.get("/new")
def new_monitor(request: Request) -> Response:
    """The form for a monitor on a stream."""
    empty = {name: field.default for name, field in MonitorForm.model_fields.items() if not field.is_required()}
    return _form(request, empty, {})


@router.post("/new")
async def make(request: Request, studio: TheStudio, identity: Identity) -> Response:
    """Makes a monitor, or shows the form again with a message beside each wrong field."""
    given = {name: value for name, value in (await request.form()).items() if name != CSRF_FIELD}
    try:
        form = parsed({name: value for name, value in given.items() if isinstance(value, str)})
        name = await run_in_threadpool(make_monitor, studio, form, identity)
    except WrongFields as wrong:
        return _form(request, given, wrong.fields, status=422)
    return RedirectResponse(f"/monitors/{name}", status_code=303)


def _form(request: Request, values: Mapping[str, Any], wrong: Mapping[str, str], status: int = 200) -> Response:
    shown = {name: "" if values.get(name) is None else str(values[name]) for name in MonitorForm.model_fields}
    elsewhere = [message for name, message in wrong.items() if name not in MonitorForm.model_fields]
    return render(
        request,
        "new.html",
        status=status,
        values=shown,
        wrong=wrong,
        elsewhere=elsewhere,
        sources=SOURCES,
        languages=LANGUAGES,
    )


UploadId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@router.get("/upload")
def upload(request: Request, studio: TheStudio) -> Response:
    """The page to upload a file."""
    return render(request, "upload.html", limit=studio.settings.max_upload)


@router.get("/upload/{upload}")
def look(request: Request, studio: TheStudio, upload: UploadId) -> Response:
    """The content of the file, and the form for its monitor."""
    return _upload_form(request, studio, upload, {}, {})


@router.post("/upload/{upload}")
def make_of_upload(
    request: Request,
    studio: TheStudio,
    identity: Identity,
    upload: UploadId,
    name: Annotated[str, Form(max_length=100)] = "",
    subject: Annotated[str, Form(max_length=300)] = "",
    keywords: Annotated[str, Form(max_length=20_000)] = "",
    language: Annotated[str, Form(max_length=10)] = "en",
    window: Annotated[str, Form(max_length=20)] = "7d",
    max_keywords: Annotated[str, Form(max_length=20)] = "",
    max_posts: Annotated[str, Form(max_length=20)] = "",
    policy: Annotated[str, Form(max_length=50)] = "klda",
) -> Response:
    """Makes the monitor and shows its progress, or shows the form again with messages."""
    values = {
        "name": name,
        "subject": subject,
        "keywords": keywords,
        "language": language,
        "window": window,
        "max_keywords": max_keywords,
        "max_posts": max_posts,
        "policy": policy,
    }
    try:
        monitor, _ = begin(studio, upload, UploadForm.model_validate(values), identity)
    except ValidationError as error:
        return _upload_form(request, studio, upload, values, in_words(list(error.errors())))
    except WrongFields as error:
        return _upload_form(request, studio, upload, values, error.fields)
    except (DataError, SettingError) as error:
        field = next((name for name in ("window", "keywords") if name in str(error)), "form")
        return _upload_form(request, studio, upload, values, {field: str(error)})
    return RedirectResponse(f"/monitors/{monitor.name}/proposal", status_code=303)


def _upload_form(
    request: Request, studio: TheStudio, upload: str, values: dict[str, Any], errors: dict[str, str]
) -> Response:
    found = seen(studio, upload)
    days = (found.ends - found.begins).total_seconds() / 86_400
    defaults = {
        "name": "",
        "subject": "",
        "keywords": "",
        "language": found.language,
        "window": "7d" if days > 21 else "1d" if days > 3 else "6h" if days > 0.5 else "1h",
        "max_keywords": "20",
        "max_posts": "",
        "policy": "klda",
    }
    return render(
        request,
        "upload_preview.html",
        status=422 if errors else 200,
        seen=found,
        values=defaults | values,
        errors=errors,
        languages=LANGUAGES,
        policies=list(policies()),
        typed={word.casefold() for word in re.split(r"[,;\s]+", str(values.get("keywords", ""))) if word},
    )
