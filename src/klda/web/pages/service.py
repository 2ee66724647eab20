"""Pages about the studio itself: login, health and metrics, and the reference of the API."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from klda.web.counts import Metrics
from klda.web.guard import cookie
from klda.web.rendering import render
from klda.web.sessions import Session, Sessions, whose
from klda.web.studio import TheStudio

router = APIRouter()


@router.get("/login")
async def login_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - the name in the address
    """The form."""
    return render(request, "login.html", next=_own(next), error=None)


@router.post("/login")
async def login(
    request: Request,
    studio: TheStudio,
    token: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002
) -> Response:
    """Logs in with a token."""
    name = whose(studio.settings.tokens, token.strip())
    if name is None:
        error = "This token is not known. Ask the person who runs this studio."
        return render(request, "login.html", status=401, next=_own(next), error=error)
    sessions: Sessions = request.app.state.sessions
    return _handing_out(request, sessions.new(name), _own(next))


@router.post("/logout")
async def logout(request: Request) -> Response:
    """Ends the session of this browser."""
    sessions: Sessions = request.app.state.sessions
    sessions.end(request.scope["state"]["session"])
    return _handing_out(request, sessions.new(), "/login")


def _handing_out(request: Request, session: Session, path: str) -> Response:
    response = RedirectResponse(path, status_code=303)
    response.headers.append("set-cookie", cookie(session, secure=request.url.scheme == "https"))
    return response


def _own(path: str) -> str:
    """A path of this studio. Any other path becomes /, so that a link cannot lead to another site."""
    safe = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if safe else "/"


@router.get("/healthz")
async def healthz() -> PlainTextResponse:
    """Whether the studio answers. It says nothing else, because no token is needed."""
    return PlainTextResponse("ok\n")


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Counts in the text format of Prometheus."""
    found: Metrics = request.app.state.metrics
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


@router.get("/api")
def reference(request: Request) -> Response:
    """All resources by topic, made from the schema of the API, so that no script of another site is needed."""
    schema = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            entry = {"method": method.upper(), "path": path, "about": operation.get("description", "")}
            entry["parameters"] = operation.get("parameters", [])
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(entry)
    return render(request, "reference.html", groups=groups, about=schema["info"]["description"].split("\n\n"))
