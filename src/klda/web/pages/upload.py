"""From a file of posts to a monitor: drop it, look at it, say what it is about."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response
from pydantic import ValidationError
from starlette.responses import RedirectResponse

from klda.errors import DataError, SettingError
from klda.policies.registry import policies
from klda.text.languages import LANGUAGES
from klda.web.api.uploads import UploadForm, begin, seen
from klda.web.forms import in_words
from klda.web.problems import WrongFields
from klda.web.rendering import render
from klda.web.studio import Identity, TheStudio

router = APIRouter()

UploadId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@router.get("/upload")
def upload(request: Request, studio: TheStudio) -> Response:
    """Where a file can be dropped."""
    return render(request, "upload.html", limit=studio.settings.max_upload)


@router.get("/upload/{upload}")
def look(request: Request, studio: TheStudio, upload: UploadId) -> Response:
    """What is in the file, and the form for the monitor."""
    return _form(request, studio, upload, {}, {})


@router.post("/upload/{upload}")
def make(
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
    """Makes the monitor, and shows how far it is; or what is wrong with the form."""
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
        return _form(request, studio, upload, values, in_words(list(error.errors())))
    except WrongFields as error:
        return _form(request, studio, upload, values, error.fields)
    except (DataError, SettingError) as error:
        field = next((name for name in ("window", "keywords") if name in str(error)), "form")
        return _form(request, studio, upload, values, {field: str(error)})
    return RedirectResponse(f"/monitors/{monitor.name}/proposal", status_code=303)


def _form(request: Request, studio: TheStudio, upload: str, values: dict[str, Any], errors: dict[str, str]) -> Response:
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
