"""Coming in with a token, and leaving."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from klda.web.rendering import render
from klda.web.safety.guard import cookie
from klda.web.safety.sessions import Session, Sessions, whose
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
    """Lets in who has a token."""
    name = whose(studio.settings.tokens, token.strip())
    if name is None:
        error = "This token is not known. Ask whoever runs this studio."
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
    """A path of this studio; anything that a browser could take for another site leads to the first page."""
    safe = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if safe else "/"
