"""Caches answers until something changes, so that many readers of a page cost little more than one.

A page depends on the records of its monitors. An answer is valid until any process commits a change to them, and for
`LONGEST` seconds at most, because some of it depends on the clock.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from klda.errors import KldaError
from klda.web.studio import Studio

LONGEST = 2.0
"""Seconds for which an answer is kept at most."""
MOST = 200
"""Number of answers that are kept at most."""
_KEPT = re.compile(r"/|/jobs|(?:/api/v1)?/monitors(?:/(?P<name>[^/]+)(?P<rest>/.*)?)?|/api/v1/jobs")
_STREAMS = ("/live", "/events")
"""Endings of paths whose answers never end."""


@dataclass(frozen=True)
class CachedAnswer:
    """An answer, and how long it is valid."""

    stamp: Hashable
    until: float
    csrf: str
    """The token in its forms. Each session has another one."""
    route: Any
    start: Message
    body: bytes


@dataclass
class _Place:
    """A place for one answer. One request makes the answer, and others wait for it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: CachedAnswer | None = None


class Kept:
    """ASGI middleware behind the guard: it only sees requests that passed the checks."""

    def __init__(self, app: ASGIApp, studio: Studio) -> None:
        self.app, self._studio = app, studio
        self._places: OrderedDict[Hashable, _Place] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the cached answer, or passes a request on and caches its answer."""
        found = _KEPT.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if found is None or scope["path"].endswith(_STREAMS):
            await self.app(scope, receive, send)
            return
        place = self._place((scope["path"], scope["query_string"], scope["state"]["identity"]))
        async with place.lock:
            stamp = await run_in_threadpool(self._stamp, found["name"])
            answer = place.answer
            if answer is None or stamp is None or answer.stamp != stamp or time.monotonic() > answer.until:
                answer = await self._made(scope, receive, stamp)
                place.answer = answer if answer.start["status"] == 200 else None
        await _sent(answer, scope, send)  # outside the lock, so that nobody waits for a slow reader

    def _place(self, key: Hashable) -> _Place:
        place = self._places.setdefault(key, _Place())
        self._places.move_to_end(key)
        if len(self._places) > MOST:
            self._places.popitem(last=False)
        return place

    def _stamp(self, name: str | None) -> Hashable:
        """A stamp that changes when the content of an answer does.

        None if it cannot be read; the page then explains why.
        """
        try:
            return self._studio.stamp(name)
        except (HTTPException, KldaError, OSError):
            return None

    async def _made(self, scope: Scope, receive: Receive, stamp: Hashable) -> CachedAnswer:
        """The complete answer of the application."""
        start, parts, until = dict[str, Any](), list[bytes](), time.monotonic() + LONGEST

        async def taken(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        await self.app(scope, receive, taken)
        return CachedAnswer(stamp, until, scope["state"]["csrf"], scope.get("route"), start, b"".join(parts))


async def _sent(answer: CachedAnswer, scope: Scope, send: Send) -> None:
    """Sends an answer with the token of the current session.

    All tokens have the same length, and nobody can guess one.
    """
    scope["route"] = answer.route
    await send(dict(answer.start, headers=list(answer.start["headers"])))  # the guard adds headers to this list
    body = answer.body.replace(answer.csrf.encode(), scope["state"]["csrf"].encode())
    await send({"type": "http.response.body", "body": body})
