"""Connections to servers: which addresses are allowed, long answers over HTTP, and connecting again after a failure."""

from __future__ import annotations

import ipaddress
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx
import stamina

from klda.errors import SettingError, SourceError
from klda.streams.protocol import Health

MAX_LINE = 1 << 20
"""Bytes of one line or event; a post takes about a hundredth of that."""
TRANSIENT = (httpx.TransportError, httpx.StreamError, OSError)
MAX_WAIT = 900.0
"""The longest wait that a server may ask for, in seconds: the length of X's rate windows."""

Resolve = Callable[[str, int], list[str]]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Where networks without IPv4 find it: the last four bytes are the address that is meant."""


class Token:
    """A secret that is read from the environment each time it is needed; it is neither kept nor shown."""

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def __repr__(self) -> str:
        return f"Token({self.variable!r})"

    def headers(self, needed: bool = True) -> dict[str, str]:
        """The header that carries it; none when it is not set and not needed."""
        secret = os.environ.get(self.variable, "").strip()
        if not secret:
            if needed:
                raise SettingError(f"the token is missing; put it into the environment variable {self.variable}")
            return {}
        if not (secret.isascii() and secret.isprintable()):
            raise SettingError(f"the token in {self.variable} holds characters that no token has; set it again")
        return {"Authorization": f"Bearer {secret}"}

    def redacted(self, text: str) -> str:
        """The text without the token, should a server send it back."""
        secret = os.environ.get(self.variable, "").strip()
        return text.replace(secret, "***") if secret else text


class _Bounded(httpx.AsyncByteStream):
    """A stream that breaks off when an event, which ends in a blank line, grows too long."""

    def __init__(self, stream: httpx.AsyncByteStream, alive: Callable[[], None]) -> None:
        self._stream, self._alive = stream, alive

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            self._alive()
            end = max(piece.rfind(b"\n\n"), piece.rfind(b"\r\n\r\n"))
            size = size + len(piece) if end < 0 else len(piece) - end
            if size > MAX_LINE:
                raise httpx.ReadError(f"an event over {MAX_LINE} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounded(response: httpx.Response, alive: Callable[[], None] = lambda: None) -> httpx.Response:
    """The answer, such that no event in it can take more than its share of memory; `alive` hears of every piece."""
    assert isinstance(response.stream, httpx.AsyncByteStream)
    response.stream = _Bounded(response.stream, alive)
    return response


async def lines(response: httpx.Response) -> AsyncIterator[bytes | None]:
    """The lines of an answer as they come, without their ends; None in place of one that is too long."""
    tail, too_long = b"", False
    async for piece in response.aiter_raw():
        *whole, tail = (tail + piece).split(b"\n")
        for line in whole:
            yield None if too_long or len(line) > MAX_LINE else line.removesuffix(b"\r")
            too_long = False
        if too_long or len(tail) > MAX_LINE:
            tail, too_long = b"", True


async def accepted(response: httpx.Response, name: str, token: Token) -> None:
    """Returns when the server agreed; raises `Busy` when it may later, and `SourceError` when it never will."""
    status = response.status_code
    if status < 300:
        return
    if status in (408, 425, 429) or status >= 500:
        raise Busy(f"HTTP {status}", asked_wait(response.headers))
    said = ""
    async for piece in response.aiter_bytes():
        said += piece.decode("utf-8", "replace")
        if len(said) > 300:
            break
    what = {401: f"check the token in {token.variable}", 403: "the token does not give this right"}
    advice = what.get(status, "check the address and the settings")
    raise SourceError(f"{name}: answered HTTP {status} ({token.redacted(said[:300]).strip()}); {advice}")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks us to wait: it says how many, or until when.

    >>> asked_wait({"retry-after": "30"}), asked_wait({"retry-after": "soon"})
    (30.0, None)
    """
    with suppress(ValueError, LookupError):  # of another library, a header that is there twice
        if "retry-after" in headers:
            asked = headers["retry-after"]
            return float(asked) if asked[:1].isdigit() else parsedate_to_datetime(asked).timestamp() - time.time()
        if "x-rate-limit-reset" in headers:
            return float(headers["x-rate-limit-reset"]) - time.time()
    return None


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between attempts: the first wait, doubled every time up to the longest, and at most so much at random."""

    first: float = 0.5
    longest: float = 60.0
    jitter: float = 1.0


class Busy(Exception):
    """The server is there and says: not now."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


async def reconnecting(
    session: Callable[[], Awaitable[None]],
    transient: tuple[type[Exception], ...],
    health: Health,
    backoff: Backoff,
    brought: Callable[[], int],
) -> None:
    """Runs sessions one after another, until one fails for good.

    brought: how many events these sessions, and no others of the source, have brought so far. One that brought
    something new, or lasted as long as the longest wait, is followed by the next at once; any other counts as a failed
    attempt, so that a server that takes every connection and drops it is not run against in a tight loop. A wait that
    the server asks for is kept in any case.
    """

    transient = (Busy, *transient)

    async def attempt_one() -> None:
        before, began = brought(), time.monotonic()
        ended: Exception = Busy("the server ended the stream")
        try:
            await session()
        except transient as error:
            ended = error
        health.reconnects += 1
        asked = isinstance(ended, Busy) and ended.wait is not None
        if asked or (brought() == before and time.monotonic() - began < backoff.longest):
            raise ended

    while True:
        await retried(attempt_one, transient, backoff, attempts=None)


async def retried(
    call: Callable[[], Awaitable[None]],
    transient: tuple[type[Exception], ...],
    backoff: Backoff,
    attempts: int | None = 5,
) -> None:
    """Calls until it succeeds, or fails for good, or has failed too often."""

    def again(error: Exception) -> bool | float:
        if isinstance(error, Busy) and error.wait is not None:
            return min(max(backoff.first, error.wait), MAX_WAIT)  # servers' clocks differ: it may lie in the past
        return isinstance(error, (Busy, *transient))

    async for attempt in stamina.retry_context(
        on=again,
        attempts=attempts,
        timeout=None,
        wait_initial=backoff.first,
        wait_max=backoff.longest,
        wait_jitter=backoff.jitter,
    ):
        with attempt:
            await call()


def resolved(host: str, port: int) -> list[str]:
    """The addresses that a name leads to, the best first; OSError where it leads nowhere."""
    return list(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def outside(host: str, port: int, resolve: Resolve = resolved) -> list[str]:
    """The addresses that a name leads to; SettingError where one of them lies in the own network.

    >>> outside("mastodon.example", 443, lambda host, port: ["93.184.215.14"])
    ['93.184.215.14']
    """
    found = resolve(host, port)
    for address in found:
        if not _is_outside(address):
            raise SettingError(f"{host} leads into the own network ({address}), which --private-sources would allow")
    return found


def _is_outside(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        meant = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            meant = ipaddress.IPv4Address(address.packed[-4:])
        if meant is None:
            special = address.is_reserved or address.is_site_local or address.is_multicast
            return address.is_global and not special
        address = meant
    return address.is_global and not address.is_multicast
