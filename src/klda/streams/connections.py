"""Connections to servers: allowed addresses, tokens, long responses over HTTP, and new attempts after a failure."""

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
"""Limit of bytes for a line or an event; a post takes about a hundredth of it."""
TRANSIENT = (httpx.TransportError, httpx.StreamError, OSError)
MAX_WAIT = 900.0
"""The longest wait that a server may request, in seconds: the length of X's rate windows."""

Resolve = Callable[[str, int], list[str]]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses that stand for IPv4 addresses: the last four bytes are the IPv4 address."""


class Token:
    """A secret from an environment variable. It is read at each use, and never stored or shown."""

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def __repr__(self) -> str:
        return f"Token({self.variable!r})"

    def headers(self, needed: bool = True) -> dict[str, str]:
        """The HTTP header with the token; empty when the token is neither set nor needed."""
        secret = os.environ.get(self.variable, "").strip()
        if not secret:
            if needed:
                raise SettingError(f"the token is missing; set the environment variable {self.variable}")
            return {}
        if not (secret.isascii() and secret.isprintable()):
            raise SettingError(f"the token in {self.variable} contains characters that no token has; set it again")
        return {"Authorization": f"Bearer {secret}"}

    def redacted(self, text: str) -> str:
        """The text with *** in place of the token, in case a server sends it back."""
        secret = os.environ.get(self.variable, "").strip()
        return text.replace(secret, "***") if secret else text


class _Bounded(httpx.AsyncByteStream):
    """A stream that fails when an event grows too long; events end in a blank line."""

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
    """The response with a limit on the size of its events; `alive` is called for every piece."""
    assert isinstance(response.stream, httpx.AsyncByteStream)
    response.stream = _Bounded(response.stream, alive)
    return response


async def lines(response: httpx.Response) -> AsyncIterator[bytes | None]:
    """The lines of a response as they arrive, without line ends; None for a line that is too long."""
    tail, too_long = b"", False
    async for piece in response.aiter_raw():
        *whole, tail = (tail + piece).split(b"\n")
        for line in whole:
            yield None if too_long or len(line) > MAX_LINE else line.removesuffix(b"\r")
            too_long = False
        if too_long or len(tail) > MAX_LINE:
            tail, too_long = b"", True


async def accepted(response: httpx.Response, name: str, token: Token) -> None:
    """None if the server accepted the request; raises `Busy` if a later try may succeed, else `SourceError`."""
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
    what = {401: f"check the token in {token.variable}", 403: "the token has no right to do this"}
    advice = what.get(status, "check the address and the settings")
    raise SourceError(f"{name}: answered HTTP {status} ({token.redacted(said[:300]).strip()}); {advice}")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds for which the server asks us to wait, given as a number or as a time; None without a request.

    >>> asked_wait({"retry-after": "30"}), asked_wait({"retry-after": "soon"})
    (30.0, None)
    """
    with suppress(ValueError, LookupError):  # another library raises LookupError for a repeated header
        if "retry-after" in headers:
            asked = headers["retry-after"]
            return float(asked) if asked[:1].isdigit() else parsedate_to_datetime(asked).timestamp() - time.time()
        if "x-rate-limit-reset" in headers:
            return float(headers["x-rate-limit-reset"]) - time.time()
    return None


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between attempts: the first wait, doubled each time up to the longest, plus up to `jitter` at random."""

    first: float = 0.5
    longest: float = 60.0
    jitter: float = 1.0


class Busy(Exception):
    """The server answers that it cannot serve the request now; `wait` is the wait in seconds that it asks for."""

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
    """Runs sessions one after another, until one fails with an error that is not transient.

    brought: how many events these sessions have brought so far, without other sessions of the source.
    A session is successful if it brought something new or lasted as long as the longest wait. The next session then
    starts at once. Otherwise it counts as a failed attempt, with a wait before the next. So a server that accepts and
    drops every connection is not called in a tight loop. A wait that the server asks for is always kept.
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
    """Calls a function until it succeeds, fails with an error that is not transient, or has failed too often."""

    def again(error: Exception) -> bool | float:
        if isinstance(error, Busy) and error.wait is not None:
            return min(max(backoff.first, error.wait), MAX_WAIT)  # may be negative: clocks differ
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
    """The IP addresses of a host, the best first; OSError for an unknown host."""
    return list(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def outside(host: str, port: int, resolve: Resolve = resolved) -> list[str]:
    """The IP addresses of a host; SettingError if one of them is in a private network.

    Ask when somebody names a source, and again at each connection: a name may lead elsewhere a moment later.

    >>> outside("mastodon.example", 443, lambda host, port: ["93.184.215.14"])
    ['93.184.215.14']
    """
    found = resolve(host, port)
    for address in found:
        if not _is_outside(address):
            raise SettingError(f"{host} leads into the own network ({address}); --private-sources allows this")
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
