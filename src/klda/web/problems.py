"""Answers to requests that fail: a documented model for programs, a page or a notice for people."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from klda.errors import DataError, FormatError, InputError, KldaError, MissingExtraError, SettingError, StoreError
from klda.web.rendering import render
from klda.web.studio_settings import HEADERS

MEDIA_TYPE = "application/problem+json"
STATUS: Mapping[type[KldaError], int] = {
    InputError: 422,
    SettingError: 422,
    DataError: 409,
    FormatError: 500,
    MissingExtraError: 501,
    StoreError: 503,
}

HEADINGS: Mapping[int, str] = {
    401: "Please log in",
    403: "Not allowed",
    404: "Not found",
    405: "Not a page",
    409: "Not possible now",
    413: "Too large",
    422: "Not understood",
    429: "Too many requests",
    503: "Not available now",
}
"""Headings on pages. Programs get the usual title of the status."""


class WrongFields(Exception):
    """A form with errors: a message for each field."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {message}" for name, message in fields.items()))
        self.fields = dict(fields)


class Problem(BaseModel):
    """Why a request was not answered (RFC 9457)."""

    status: int = Field(description="The HTTP status.", examples=[404])
    title: str = Field(description="The kind of problem.", examples=["Not Found"])
    detail: str = Field(description="What is wrong, and what to do.", examples=["there is no monitor 'helth'"])
    fields: dict[str, str] = Field(default={}, description="What is wrong with each field of the request.")

    @classmethod
    def of(cls, status: int, detail: str, fields: Mapping[str, str] | None = None) -> Problem:
        """A problem with the usual title of its status."""
        return cls(status=status, title=HTTPStatus(status).phrase, detail=detail, fields=dict(fields or {}))


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of a resource, as OpenAPI documents them. Those that every resource has are included."""
    common = (401, 403, 404, 422, 429, 503)
    return {
        status: {"model": Problem, "description": HTTPStatus(status).phrase} for status in sorted({*common, *statuses})
    }


def document_problems(app: FastAPI) -> None:
    """Sets the media type of problems in the schema. FastAPI documents every model as plain JSON."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        schema = describe()
        operations = (operation for path in schema["paths"].values() for operation in path.values())
        for response in (response for operation in operations for response in operation["responses"].values()):
            content = response.get("content", {})
            if content.get("application/json", {}).get("schema") == {"$ref": "#/components/schemas/Problem"}:
                content[MEDIA_TYPE] = content.pop("application/json")
        return schema

    app.openapi = openapi  # type: ignore[method-assign]


def status_of(error: Exception) -> int:
    """The HTTP status for one of our errors."""
    return next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)


def answer(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The problem as JSON, as a notice in the page that asked, or as a page."""
    if request.url.path.startswith("/api/"):
        body = problem.model_dump(exclude_defaults=True)
        return JSONResponse(body, problem.status, dict(headers or {}), media_type=MEDIA_TYPE)
    own = dict(headers or {})
    if request.headers.get("hx-request"):
        own |= {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"}
        return render(request, "notice.html", status=problem.status, headers=own, problem=problem)
    shown = {
        "problem": problem,
        "heading": HEADINGS.get(problem.status, "Something went wrong"),
        "back": _back(request),
    }
    return render(request, "problem.html", status=problem.status, headers=own, **shown)


def _back(request: Request) -> str | None:
    """The page of the studio that the person came from, if any. Not the same address, which would send a form again."""
    came = urlsplit(request.headers.get("referer", ""))
    ours = came.netloc == request.url.netloc and came.path.startswith("/") and not came.path.startswith("//")
    return came.path if ours and came.path != request.url.path else None


def handle_problems(app: FastAPI) -> None:
    """Makes the application answer every error with a `Problem`."""

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return answer(request, Problem.of(error.status_code, str(error.detail)), error.headers)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        fields = {".".join(map(str, e["loc"][1:])) or str(e["loc"][0]): str(e["msg"]) for e in error.errors()}
        if any(e["loc"][0] == "path" for e in error.errors()) and not request.url.path.startswith("/api/"):
            return answer(request, Problem.of(404, "there is nothing at this address"))
        first = next(iter(fields.items()), ("the request", "cannot be read"))
        return answer(request, Problem.of(422, f"{first[0]}: {first[1]}", fields))

    async def wrong(request: Request, error: Exception) -> Response:
        assert isinstance(error, WrongFields)
        return answer(request, Problem.of(422, str(error), error.fields))

    async def ours(request: Request, error: Exception) -> Response:
        return answer(request, Problem.of(status_of(error), str(error)))

    async def bug(request: Request, _: Exception) -> Response:
        return answer(request, Problem.of(500, "an error in the studio; its log says more"), HEADERS)

    app.add_exception_handler(Exception, bug)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(WrongFields, wrong)
    app.add_exception_handler(KldaError, ours)
