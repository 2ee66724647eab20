"""Checks every request before any page sees it, so that no page can forget a check.

1. The header `Host` must name this studio. An attacker can make another name lead here (DNS rebinding).
2. A client that asks too often has to wait. A body that is too large is not read.
3. Requests from another machine need a token, in a header or by the session that the login page gives for it.
4. Requests that change something must come from the studio's own pages (`Origin`) with the token of their session.
   A request with a token in its header needs neither, because a browser never sends that header by itself.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from klda.web.problems import Problem, answer
from klda.web.sessions import COOKIE, LIFE, Session, Sessions, whose
from klda.web.studio_settings import HEADERS, StudioSettings

_MOST_CLIENTS = 10_000


@dataclass
class RateLimit:
    """Requests that each client may make: `rate` per second on average, `burst` at once.

    >>> limit = RateLimit(rate=1.0, burst=2, clock=lambda: 0.0)
    >>> [limit.wait("ann"), limit.wait("ann"), limit.wait("ann"), limit.wait("bob")]
    [0.0, 0.0, 1.0, 0.0]
    """

    rate: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, client: str) -> float:
        """Seconds until the next request may pass, 0 if this one passes. Counts the request."""
        left, now = self._left(client)
        passes = left >= 1
        self._buckets[client] = (left - 1 if passes else left, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if passes else (1 - left) / self.rate

    def ahead(self, client: str) -> float:
        """The same, without counting a request."""
        left, _ = self._left(client)
        return 0.0 if left >= 1 else (1 - left) / self.rate

    def _left(self, client: str) -> tuple[float, float]:
        now = self.clock()
        left, since = self._buckets.get(client, (self.burst, now))
        return min(self.burst, left + (now - since) * self.rate), now


SAFE = ("GET", "HEAD", "OPTIONS")
OPEN = ("/login", "/healthz")
"""Pages that need no token, besides static files."""
UPLOADS = "/api/v1/uploads"
"""Address for uploads. All other requests have small bodies."""
CSRF_HEADER = "x-csrf-token"
CSRF_FIELD = "csrf"
_FORM = "application/x-www-form-urlencoded"


class Refused(HTTPException):
    """A request that is refused."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, headers)


class Guard:
    """ASGI middleware that checks every request."""

    def __init__(self, app: ASGIApp, settings: StudioSettings, sessions: Sessions) -> None:
        self.app, self.settings, self.sessions = app, settings, sessions
        self._hosts = settings.allowed_hosts
        self._origins = {f"{scheme}://{host}" for scheme in ("http", "https") for host in self._hosts}
        self._reads = RateLimit(settings.reads_per_second, 2 * settings.reads_per_second)
        self._writes = RateLimit(settings.writes_per_minute / 60, settings.writes_per_minute / 2)
        self._logins = RateLimit(settings.logins_per_minute / 60, settings.logins_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        outgoing = _with_headers(send)
        try:
            receive, session, fresh = await self._checked(scope, receive)
        except Refused as refusal:
            await self._refuse(scope, receive, outgoing, refusal)
            return
        if fresh:
            outgoing = _with_cookie(outgoing, session, secure=scope.get("scheme") == "https")
        await self.app(scope, receive, outgoing)

    async def _checked(self, scope: Scope, receive: Receive) -> tuple[Receive, Session, bool]:
        """The rest of the request, its session, and whether the session is new. Raises `Refused` if a check fails."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        if headers.get("host", "").lower() not in self._hosts:
            raise Refused(421, "this name does not belong to the studio; use the address that `klda serve` printed")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            raise Refused(403, "the request comes from another site")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _is_visit(headers, method):
            raise Refused(403, "the request comes from a page of another site")
        bearer = self._bearer(scope, headers)
        found = self.sessions.read(_cookie(headers))
        session = found or self.sessions.new()
        identity = bearer or (session.identity if self.settings.needs_token else self.settings.local_user)
        self._limit(scope, method, path, identity)
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state.update(identity=identity, session=session, csrf=self.sessions.csrf(session))
        if identity is None and path not in OPEN and not path.startswith("/static/"):
            raise Refused(401, "log in with a token first", **{"WWW-Authenticate": "Bearer"})
        receive = self._bounded(headers, path, receive)
        if method not in SAFE and bearer is None:
            receive = await self._own_request(headers, session, found is not None, receive)
        return receive, session, found is None and bearer is None and not path.startswith("/static/")

    def _bearer(self, scope: Scope, headers: Headers) -> str | None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        _wait(self._logins.ahead(_client(scope)))  # after too many guesses, even a right token is not confirmed
        name = whose(self.settings.tokens, token.strip())
        if name is None:
            self._limit_login(scope)
            raise Refused(401, "the token is not known", **{"WWW-Authenticate": 'Bearer error="invalid_token"'})
        return name

    def _limit(self, scope: Scope, method: str, path: str, identity: str | None) -> None:
        client = identity or _client(scope)
        if path == "/login" and method not in SAFE:
            self._limit_login(scope)
        limit = self._reads if method in SAFE else self._writes
        _wait(limit.wait(client))

    def _limit_login(self, scope: Scope) -> None:
        _wait(self._logins.wait(_client(scope)))

    def _bounded(self, headers: Headers, path: str, receive: Receive) -> Receive:
        """The body, with an error as soon as it is too large."""
        most = self.settings.max_upload if path == UPLOADS else self.settings.max_body
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise _too_large(most)
        return _up_to(most, receive)

    async def _own_request(self, headers: Headers, session: Session, known: bool, receive: Receive) -> Receive:
        """The unread body, after a check that one of our own pages sent the request."""
        token = headers.get(CSRF_HEADER)
        if token is None and headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
            body = await _whole(_up_to(self.settings.max_body, receive))  # held in memory, so it must be small
            fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
            token, receive = fields.get(CSRF_FIELD, [""])[0], _again(body)
        if not known or token is None or not self.sessions.is_csrf(session, token):
            raise Refused(403, "the page is out of date, or the request was forged; reload the page and try again")
        return receive

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, refusal: Refused) -> None:
        response: Response
        request = Request(scope, receive)
        if refusal.status_code == 401 and _wants_page(scope) and scope["method"] == "GET":
            response = RedirectResponse("/login?next=" + quote(scope["path"]), status_code=303)
        else:
            response = answer(request, Problem.of(refusal.status_code, refusal.detail), refusal.headers)
        await response(scope, receive, send)


def _wait(seconds: float) -> None:
    if seconds:
        raise Refused(429, "too many requests; wait a moment", **{"Retry-After": str(int(seconds) + 1)})


def _is_visit(headers: Headers, method: str) -> bool:
    """Whether somebody followed a link, which any site may show.

    Other sites may not load pictures or scripts from here.
    """
    return (
        method in SAFE and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )


def _too_large(most: int) -> Refused:
    return Refused(413, f"the request is larger than {most:,} bytes")


def _up_to(most: int, receive: Receive) -> Receive:
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _too_large(most)
        return message

    return bounded


def _client(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else "unknown"


def _wants_page(scope: Scope) -> bool:
    return not scope["path"].startswith(("/api/", "/metrics"))


def _cookie(headers: Headers) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


async def _whole(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)
    return b"".join(parts)


def _again(body: bytes) -> Receive:
    """A body that was read, to be read once more."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive


def _with_headers(send: Send) -> Send:
    async def outgoing(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return outgoing


def _with_cookie(send: Send, session: Session, *, secure: bool) -> Send:
    async def outgoing(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if not any(value.startswith(f"{COOKIE}=") for value in headers.getlist("set-cookie")):
                headers.append("set-cookie", cookie(session, secure=secure))
        await send(message)

    return outgoing


def cookie(session: Session, *, secure: bool, life: int = LIFE) -> str:
    """The header that sets the session cookie.

    Scripts cannot read it, and other sites cannot make a browser send it.
    """
    text = f"{COOKIE}={session.text}; Path=/; Max-Age={life}; HttpOnly; SameSite=Strict"
    return text + ("; Secure" if secure else "")
