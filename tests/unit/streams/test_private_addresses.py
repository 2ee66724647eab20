from __future__ import annotations

import asyncio
from contextlib import aclosing
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from klda.errors import SettingError, SourceError
from klda.streams import source_of
from klda.streams.connections import outside


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700::1111", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"])
def test_addresses_of_others_are_outside(address: str) -> None:
    assert outside("a.example", 443, lambda host, port: [address]) == [address]


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "127.1", "::1", "::ffff:127.0.0.1", "0"]
)
def test_no_spelling_of_this_machine_is_outside(host: str) -> None:
    with pytest.raises(SettingError, match="own network"):
        outside(host, 443)


def test_a_jetstream_is_not_followed_to_where_it_points() -> None:
    asked: list[str] = []

    def point(_: ServerConnection, request: Request) -> Response:
        asked.append(request.path)
        headers = Headers({"Location": "/elsewhere", "Content-Length": "0"})
        return Response(HTTPStatus.FOUND, "Found", headers)

    async def listen() -> None:
        async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=point) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with aclosing(source_of(f"jetstream:ws://127.0.0.1:{port}").bursts()) as bursts:
                async for _ in bursts:
                    pass

    with pytest.raises(SourceError, match="HTTP 302"):
        asyncio.run(asyncio.wait_for(listen(), 20))
    assert len(asked) == 1


def test_a_jetstream_is_reached_at_the_address_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.streams.jetstream.outside", lambda host, port: ["93.184.215.14"])
    source = source_of({"kind": "jetstream", "server": "wss://a.example", "only_outside": True})
    connection = asyncio.run(source.connection(None))  # type: ignore[attr-defined]
    assert connection.create_connection_kwargs == {"host": "93.184.215.14", "port": 443}
