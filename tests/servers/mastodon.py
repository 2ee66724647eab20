"""A Mastodon on loopback: public and hashtag streams, and the timelines behind them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.servers.http import HttpServer, Reply, Request


def status(number: int, text: str, tags: tuple[str, ...] = (), **more: object) -> dict[str, Any]:
    """A status as the server sends it."""
    return {
        "id": str(number),
        "uri": f"https://elsewhere.example/statuses/{number}",
        "created_at": "2026-01-05T10:00:00.000Z",
        "content": f"<p>{text}</p>",
        "account": {"id": "1", "acct": "anna", "followers_count": 3},
        "tags": [{"name": tag} for tag in tags],
        **more,
    }


@dataclass
class MastodonServer:
    """Statuses that are posted while clients listen; `server.reset()` cuts all streams."""

    statuses: list[dict[str, Any]] = field(default_factory=list)
    refuse: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Answers for the next streams, before any is accepted."""
    drop: set[str] = field(default_factory=set)
    """Hashtags whose streams are accepted and ended at once."""
    before_refusing: Callable[[], Awaitable[None]] | None = None
    token: str | None = None
    streams: dict[Reply, str] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    http: HttpServer = field(init=False)

    def __post_init__(self) -> None:
        self.http = HttpServer(self._answer)

    async def post(self, status: dict[str, Any], event: str = "update") -> None:
        """Posts a status to the streams it belongs to."""
        if event == "update":
            self.statuses.append(status)
        tags = {tag["name"] for tag in status.get("tags", ())}
        await self.send(f"event: {event}\ndata: {orjson.dumps(status).decode()}\n\n".encode(), tags)

    async def send(self, content: bytes, tags: set[str] | None = None) -> None:
        """Sends bytes to all streams, or to those of some hashtags and the public one."""
        for reply, tag in list(self.streams.items()):
            if tags is None or not tag or tag in tags:
                await reply.chunk(content)

    def reset(self) -> None:
        """Cuts all streams."""
        for reply in list(self.streams):
            reply.reset()
            self.streams.pop(reply)

    async def _answer(self, request: Request, reply: Reply) -> None:
        if self.token is not None and request.headers["authorization"] != f"Bearer {self.token}":
            await reply.whole({"error": f"not {request.headers['authorization']}"}, 401)
        elif request.path.startswith("/api/v1/timelines/"):
            await reply.whole(self._page(request))
        elif self.refuse:
            code, headers = self.refuse.pop(0)
            if self.before_refusing is not None:
                await self.before_refusing()
            await reply.whole({"error": "no"}, code, **headers)
        else:
            await self._stream(request, reply)

    async def _stream(self, request: Request, reply: Reply) -> None:
        tag = request.query.get("tag", [""])[0]
        await reply.begin()
        await reply.chunk(b":)\n")
        self.streams[reply] = tag
        self.opened.append(tag)
        if tag in self.drop:
            self.streams.pop(reply)
            await reply.end()
            return
        try:
            await reply.gone()
        finally:
            self.streams.pop(reply, None)
            self.closed.append(tag)

    def _page(self, request: Request) -> list[dict[str, Any]]:
        after = int(request.query["min_id"][0])
        tag = request.path.rpartition("/tag/")[2] if "/tag/" in request.path else ""
        newer = [s for s in self.statuses if int(s["id"]) > after]
        if tag:
            newer = [s for s in newer if tag in {t["name"] for t in s["tags"]}]
        return list(reversed(newer[: int(request.query["limit"][0])]))
