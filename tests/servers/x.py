"""X API v2 on loopback: rules, and a filtered stream that follows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.servers.http import HttpServer, Reply, Request


def tweet(number: int, text: str, **more: object) -> dict[str, Any]:
    """A post in its envelope."""
    data = {"id": str(number), "text": text, "created_at": "2026-01-05T10:00:00.000Z", "author_id": "1", **more}
    return {"data": data, "includes": {"users": [{"id": "1", "username": "anna"}]}, "matching_rules": []}


@dataclass
class XServer:
    """A stream that brings what any rule's words match, in the simplest sense; rules and requests are kept in order."""

    token: str = "secret"
    refuse: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    refuse_rules: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    rules: list[dict[str, str]] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    streams: list[Reply] = field(default_factory=list)
    http: HttpServer = field(init=False)

    def __post_init__(self) -> None:
        self.http = HttpServer(self._answer)

    async def post(self, record: dict[str, Any]) -> bool:
        """Posts; whether a rule matched, so that it went to the streams."""
        words = set(record["data"]["text"].lower().split())
        matched = any(words & set(rule["value"].replace("(", " ").replace(")", " ").split()) for rule in self.rules)
        if matched:
            await self.send(orjson.dumps(record) + b"\r\n")
        return matched

    async def send(self, content: bytes) -> None:
        """Sends bytes to all streams."""
        for reply in self.streams:
            await reply.chunk(content)

    def reset(self) -> None:
        """Cuts all streams."""
        while self.streams:
            self.streams.pop().reset()

    async def _answer(self, request: Request, reply: Reply) -> None:
        if request.headers["authorization"] != f"Bearer {self.token}":
            await reply.whole({"title": "Unauthorized", "detail": request.headers["authorization"]}, 401)
        elif request.path.endswith("/rules"):
            if self.refuse_rules:
                code, headers = self.refuse_rules.pop(0)
                await reply.whole({}, code, **headers)
            else:
                await reply.whole(self._change(request), 200 if request.method == "GET" else 201)
        elif self.refuse:
            code, headers = self.refuse.pop(0)
            await reply.whole({"title": "no"}, code, **headers)
        else:
            await reply.begin(kind="application/json")
            await reply.chunk(b"\r\n")
            self.streams.append(reply)
            await reply.gone()
            if reply in self.streams:
                self.streams.remove(reply)

    def _change(self, request: Request) -> dict[str, Any]:
        change = orjson.loads(request.body) if request.body else {}
        for rule in change.get("add", []):
            self.rules.append({"id": str(len(self.changes)), **rule})
            self.changes.append(f"add {rule['value']}")
        for number in change.get("delete", {}).get("ids", []):
            [gone] = [rule for rule in self.rules if rule["id"] == number]
            self.rules.remove(gone)
            self.changes.append(f"delete {gone['value']}")
        return {"data": list(self.rules), "meta": {"summary": {"not_created": 0}}}
