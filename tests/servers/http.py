"""A small HTTP server on loopback that answers in chunks for as long as it likes, and breaks off when told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import orjson


@dataclass
class Request:
    """What a client asked for."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


@dataclass(eq=False)
class Reply:
    """The way back to the client."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def gone(self) -> None:
        """Returns when the client has left, or was cut off."""
        while not (self.writer.is_closing() or self.reader.at_eof()):
            await asyncio.sleep(0.01)

    async def begin(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        """Starts an answer that goes on in chunks."""
        given = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        self.writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{given}Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        await self.writer.drain()

    async def chunk(self, content: bytes) -> None:
        """Sends a piece."""
        self.writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        await self.writer.drain()

    async def half_chunk(self, content: bytes) -> None:
        """Promises a piece, sends half of it and cuts the connection."""
        self.writer.write(f"{len(content):x}\r\n".encode() + content[: len(content) // 2])
        await self.writer.drain()
        await asyncio.sleep(0.01)
        self.reset()

    async def end(self) -> None:
        """Ends the answer as it should be."""
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def whole(self, content: object, status: int = 200, **headers: str) -> None:
        """A whole answer in JSON."""
        await self.begin(status, "application/json", **headers)
        await self.chunk(orjson.dumps(content))
        await self.end()

    def reset(self) -> None:
        """Cuts the connection."""
        self.writer.transport.abort()


Handler = Callable[[Request, Reply], Awaitable[None]]


@dataclass
class HttpServer:
    """Gives every request to a handler; each connection serves one."""

    handler: Handler
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[HttpServer]:
        """Listens on the port it had before, or on a free one; all connections are cut at the end."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                url = urlsplit(target)
                exact = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
                headers["authorization"] = next((v for k, v in exact.items() if k.lower() == "authorization"), "")
                request = Request(method, url.path, parse_qs(url.query), headers, body)
                self.requests.append(request)
                await self.handler(request, Reply(reader, writer))
            finally:
                writer.transport.abort()
