"""A Jetstream on loopback: frames in the order of time, replay from a cursor, and every way to break off."""

from __future__ import annotations

import asyncio
import sys
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK

from klda.posts.schema import microseconds
from klda.simulation import World
from klda.types import Post

Frames = Sequence[tuple[int, bytes]]
"""Each frame with the server's time in microseconds, ascending."""


def frame(post: Post, time_us: int | None = None, version: int = 1) -> bytes:
    """A post as Jetstream sends it."""
    return commit(
        "create", f"did:plc:{post.author or 'nobody'}", post.id, time_us or microseconds(post.time), post, version
    )


def deletion(did: str, key: str, time_us: int, version: int = 1) -> bytes:
    """A deletion as Jetstream sends it."""
    return commit("delete", did, key, time_us, None, version)


def account(did: str, status: str, time_us: int, version: int = 1) -> bytes:
    """What Jetstream says when an account changes its state."""
    state = {"did": did, "active": status == "active", "status": status}
    if version == 1:
        return orjson.dumps({"did": did, "time_us": time_us, "kind": "account", "account": state})
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
    payload = {"$type": "network.bsky.jetstream.subscribeEvents#account", "did": did, "time": moment.isoformat()}
    return orjson.dumps({"$type": "message", "payload": {**payload, "account": state}})


def commit(operation: str, did: str, key: str, time_us: int, post: Post | None, version: int) -> bytes:
    """One change of a repository."""
    change: dict[str, object] = {"operation": operation, "collection": "app.bsky.feed.post", "rkey": key, "rev": "r"}
    if post is not None:
        langs = [post.language] if post.language else []
        change["record"] = {"$type": "app.bsky.feed.post", "text": post.text, "langs": langs, "tags": post.hashtags}
    if version == 1:
        return orjson.dumps({"did": did, "time_us": time_us, "kind": "commit", "commit": change})
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
    payload = {"$type": "network.bsky.jetstream.subscribeEvents#commit", "seq": time_us % 10**9, "did": did}
    return orjson.dumps({"$type": "message", "payload": {**payload, "time": moment.isoformat(), **change}})


def frames_of(posts: Iterable[Post], version: int = 1) -> list[tuple[int, bytes]]:
    """The frames of these posts, at the posts' own times."""
    return [(microseconds(post.time), frame(post, version=version)) for post in posts]


class SimulatedFrames(Sequence[tuple[int, bytes]]):
    """Any number of posts, made when they are asked for: the texts of a few, over and over, each under its own id.

    Post number i says what post i modulo their number says; its id ends in i, and it comes `spacing` microseconds after
    the one before: so anyone can tell which posts there are, without asking the server.
    """

    def __init__(
        self, n: int, posts: Sequence[Post], start: int = 1_767_571_200_000_000, spacing: int = 20_000
    ) -> None:
        self._n, self._start, self._spacing = n, start, spacing
        self._parts = [_in_parts(post) for post in posts]

    def grow(self, n: int) -> None:
        """Lets there be so many posts by now."""
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < self._n:
            raise IndexError(i)
        before, between, after = self._parts[i % len(self._parts)]
        moment = self._start + i * self._spacing
        return moment, b"%s%d%s%d%s" % (before, moment, between, i, after)


def _in_parts(post: Post) -> list[bytes]:
    """A frame without its time and its key: what stands before, between and after them."""
    content = frame(post, 123_456_789).replace(b"123456789", b"\0", 1)
    return content.replace(b'"rkey":"%s"' % post.id.encode(), b'"rkey":"\0"', 1).split(b"\0")


@dataclass
class Connection:
    """What one client asked for, and what becomes of it."""

    number: int
    cursor: int | None
    query: dict[str, list[str]]
    sent: int = 0


Break = Callable[[Connection], str | None]
"""Looked at before every frame: None to go on, or how to break off: `reset`, `half`, `close`."""


@dataclass
class JetstreamServer:
    """Serves frames that may still grow; a client without a cursor starts at the first.

    A client that has all frames waits for more, as at a live stream, or is closed when `finite`.
    """

    frames: Frames = field(default_factory=list)
    finite: bool = False
    breaks: Break = lambda connection: None
    pack: Callable[[bytes], bytes] | None = None
    connections: list[Connection] = field(default_factory=list)
    port: int = 0
    burst: int = 200
    _grown: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, *frames: tuple[int, bytes]) -> None:
        """Adds frames while clients listen."""
        self.frames = [*self.frames, *frames]
        self.wake()

    def wake(self) -> None:
        """Lets clients that wait look for more frames."""
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"ws://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[JetstreamServer]:
        """Listens on the port it had before, or on a free one; all connections are cut at the end."""
        server = await serve(self._serve, "127.0.0.1", self.port, compression=None, close_timeout=0.1)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close(close_connections=True)
            await server.wait_closed()

    async def _more_or_gone(self, socket: ServerConnection) -> None:
        """Waits for more frames, or for the client to leave."""
        waiting = [asyncio.ensure_future(self._grown.wait()), asyncio.ensure_future(socket.wait_closed())]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if waiting[1] in done:
            raise ConnectionClosedOK(None, None)

    async def _serve(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        query = parse_qs(urlsplit(socket.request.path).query)
        cursor = int(query["cursor"][0]) if "cursor" in query else None
        connection = Connection(len(self.connections), cursor, query)
        self.connections.append(connection)
        at = 0 if cursor is None else bisect_left(self.frames, cursor, key=lambda item: item[0])
        try:
            while True:
                while at < len(self.frames):
                    how = self.breaks(connection)
                    if how is not None:
                        await _break_off(socket, self.frames[at][1], how)
                        return
                    content = self.frames[at][1]
                    if self.pack is None:
                        await socket.send(content, text=True)
                    else:
                        await socket.send(self.pack(content))
                    at += 1
                    connection.sent += 1
                    if at % self.burst == 0:
                        await asyncio.sleep(0)
                if self.finite:
                    return
                await self._more_or_gone(socket)
        except ConnectionClosed:
            pass


async def _break_off(socket: ServerConnection, content: bytes, how: str) -> None:
    """Ends a connection: politely, by a reset, or in the middle of a frame."""
    if how == "close":
        await socket.close()
        return
    transport = socket.transport
    if how == "half":
        header = b"\x81\x7e" + len(content).to_bytes(2, "big")
        transport.write(header + content[: len(content) // 2])
        await asyncio.sleep(0)
    transport.abort()


async def serve_simulated(n: int, port: int = 0, distinct: int = 5_000) -> None:
    """Serves so many simulated posts until it is stopped; the first line that it prints is the port."""
    server = JetstreamServer(SimulatedFrames(n, list(World(weeks=1, posts_per_week=distinct).posts())), port=port)
    async with server.running():
        print(server.port, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve_simulated(*map(int, sys.argv[1:])))
