"""Long answers over HTTP: bounded lines, refusals told apart from trouble, tokens that never show."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime

import httpx

from klda.errors import SettingError, SourceError
from klda.streams.reconnect import Busy

MAX_LINE = 1 << 20
"""Bytes of one line or event; a post takes about a hundredth of that."""
TRANSIENT = (httpx.TransportError, httpx.StreamError, OSError)


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
