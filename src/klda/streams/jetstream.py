"""Bluesky's Jetstream, versions 1 and 2, over a websocket.

Jetstream does not filter text: every post of the network arrives, and klda filters. The cursor is the server's time in
microseconds. Both versions accept it. It is valid on other servers too, unlike the sequence numbers of version 2. Every
connection starts a few seconds before the cursor, and posts that were received before are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

import orjson
import zstandard
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from klda.errors import SettingError, SourceError
from klda.posts.formats import bluesky
from klda.posts.formats.outcome import BROKEN_JSON, DAMAGED, NOT_AN_OBJECT, OTHER_EVENT, TOO_LONG, Bad, Skip
from klda.posts.formats.times import LATEST, parse_time
from klda.posts.formats.values import part
from klda.streams.buffer import Buffer, Recent, buffered
from klda.streams.connections import Backoff, Busy, asked_wait, outside, reconnecting
from klda.streams.protocol import Burst, Event, Gap, Health, event_of
from klda.types import KeywordSet

PUBLIC = "wss://jetstream2.us-east.bsky.network"
MAX_FRAME = 1 << 20
"""Limit of bytes for one unpacked frame; a post takes about a thousandth of it."""
SILENCE = timedelta(hours=1)
"""If a stream resumes this much later than requested, the server has lost the posts in between."""

_PATHS = {1: "/subscribe", 2: "/xrpc/network.bsky.jetstream.subscribeEvents"}
_TOO_BIG = 1009  # websocket close code for a frame over the limit
_TRANSIENT = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError)
_SILENCE = SILENCE // timedelta(microseconds=1)


class _Direct(connect):
    """A connection to the named server only; redirects are refused."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Jetstream:
    """All posts of Bluesky, as they are written.

    server: `wss://host`; the path and the query are added. version: the version of the protocol.
    step_back: seconds before the cursor at which every connection starts.
    dictionary: a file with the Zstandard dictionary of the server; with it, frames are compressed.
    only_outside: whether to refuse a server in the own network, for servers that strangers may name.
    """

    replayable = True
    unfiltered = True
    name = "jetstream"  # the same for all servers, because cursors and ids are valid on all of them

    def __init__(
        self,
        server: str = PUBLIC,
        *,
        version: Literal[1, 2] = 1,
        step_back: float = 5.0,
        dictionary: Path | None = None,
        only_outside: bool = False,
        backoff: Backoff | None = None,
    ) -> None:
        if version not in _PATHS:
            raise SettingError(f"version={version!r}: Jetstream has versions 1 and 2")
        if urlsplit(server).scheme not in ("ws", "wss") or not urlsplit(server).hostname:
            raise SettingError(f"server={server!r}: write the address of a Jetstream like {PUBLIC}")
        if step_back < 0:
            raise SettingError(f"step_back must not be negative, got {step_back}")
        self.health = Health()
        self.host = urlsplit(server).hostname
        self._server, self._version = server.rstrip("/"), version
        self._step_back = round(step_back * 1e6)
        self._packing = None if dictionary is None else zstandard.ZstdCompressionDict(_read(dictionary))
        self._unpacker = zstandard.ZstdDecompressor(dict_data=self._packing)
        self._backoff = backoff or Backoff()
        self._only_outside = only_outside

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Does nothing, because the source brings all posts."""

    def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of arriving events, from the cursor on or from now."""
        try:
            start = None if cursor is None else int(cursor)
        except ValueError as error:
            raise SettingError(f"cursor {cursor!r}: write microseconds since 1970") from error
        return buffered(_Reading(self, start).run, cursor)

    def url(self, cursor: int | None) -> str:
        """The address of a stream that resumes at a time in microseconds."""
        wanted = "wantedCollections" if self._version == 1 else "collections"
        query: list[tuple[str, object]] = [(wanted, bluesky.POST), ("maxMessageSizeBytes", MAX_FRAME)]
        if self._version == 2:
            query += [("kinds", "commit"), ("kinds", "account")]  # version 1 always sends accounts
        if self._packing is not None:
            query.append(("compress", "true") if self._version == 1 else ("zstdDictionary", self._packing.dict_id()))
        if cursor is not None:
            query.append(("cursor", max(cursor, 0)))
        return f"{self._server}{_PATHS[self._version]}?{urlencode(query)}"

    async def connection(self, cursor: int | None) -> connect:
        """A connection that resumes at this time; it is not yet open."""
        subprotocols = [Subprotocol("xrpc.v1.json")] if self._version == 2 else None
        where: dict[str, Any] = {}
        if self._only_outside:  # connect to the address that was checked: the name could lead elsewhere the next time
            parts = urlsplit(self._server)
            port = parts.port or (443 if parts.scheme == "wss" else 80)
            where = {"host": (await asyncio.to_thread(outside, parts.hostname or "", port))[0], "port": port}
        return _Direct(
            self.url(cursor),
            **where,
            compression=None,
            max_size=MAX_FRAME,
            max_queue=256,
            close_timeout=0.5,  # a blocked reader cannot receive the answer to its close
            subprotocols=subprotocols,
        )

    def decoded(self, frame: bytes) -> Mapping[str, Any] | Bad:
        """The record in a frame, compressed or not; `Bad` with the reason for a broken one."""
        if frame.startswith(zstandard.FRAME_HEADER):
            try:
                if zstandard.frame_content_size(frame) > MAX_FRAME:
                    return Bad(TOO_LONG)
                frame = self._unpacker.decompress(frame, max_output_size=MAX_FRAME)
            except zstandard.ZstdError as error:
                return Bad(DAMAGED, value=error)
        try:
            record = orjson.loads(frame)
        except orjson.JSONDecodeError:
            return Bad(BROKEN_JSON, value=frame[:100])
        return record if isinstance(record, dict) else Bad(NOT_AN_OBJECT, value=record)

    @property
    def step_back(self) -> int:
        """Microseconds before the cursor at which every connection starts."""
        return self._step_back

    @property
    def backoff(self) -> Backoff:
        """The waits between attempts."""
        return self._backoff


class _Reading:
    """One run through the stream: the last event seen, and where to resume."""

    def __init__(self, source: Jetstream, cursor: int | None) -> None:
        self._source, self._cursor = source, cursor
        self._before = cursor or 0  # the time of the event before
        self._recent = Recent()
        self._floor = self._skip = 0  # where to resume after a frame that is too big, and how far the last jump went

    async def run(self, buffer: Buffer) -> None:
        """Reads without end."""
        source, health = self._source, self._source.health
        session = partial(self._session, buffer)
        await reconnecting(session, _TRANSIENT, health, source.backoff, lambda: health.received)

    async def _session(self, buffer: Buffer) -> None:
        """One connection, until it breaks."""
        asked = self._cursor
        if asked is not None:
            asked = max(asked - self._source.step_back, self._floor)
        try:
            async with await self._source.connection(asked) as socket:
                await self._read(socket, buffer, asked)
        except InvalidURI as error:
            raise SourceError(f"jetstream {self._source.host}: no valid address ({error}); check it") from error
        except InvalidStatus as error:
            status = error.response.status_code
            if status == 429 or status >= 500:
                raise Busy(f"HTTP {status}", asked_wait(error.response.headers)) from error
            raise SourceError(
                f"jetstream {self._source.host}: answered HTTP {status}; check the address and the version"
            ) from error
        except ConnectionClosed as error:
            if error.sent is None or error.sent.code != _TOO_BIG:
                raise
            await self._jump(buffer)

    async def _read(self, socket: ClientConnection, buffer: Buffer, asked: int | None) -> None:
        source, health, resumed = self._source, self._source.health, asked is not None
        while True:
            record = source.decoded(await socket.recv(decode=False))  # bad UTF-8 must not close the connection
            if isinstance(record, Bad):
                health.reject(record)
                continue
            moment = _moment(record)
            if moment is not None:
                if resumed and asked and moment - asked > _SILENCE:
                    reason = "the server does not keep posts that long"
                    await buffer.put(Gap(_time(max(asked, self._cursor or 0)), _time(moment), reason))
                resumed = False
                self._skip = 0
                self._advance(moment)
            event = _event(record, health)
            if event is None:
                buffer.advance(self._text())
            elif self._recent.is_new(event):
                health.count(event)
                await buffer.put(event, self._text())
            else:
                health.duplicates += 1

    def _advance(self, moment: int) -> None:
        """Moves the cursor. It moves far ahead only if two events in a row agree, so one wrong clock skips nothing."""
        far = self._cursor is not None and moment - self._cursor > _SILENCE
        agreed = min(moment, self._before) if far else moment
        self._cursor, self._before = max(self._cursor or 0, agreed), moment

    async def _jump(self, buffer: Buffer) -> None:
        """Moves the cursor past a frame that is too big, further at each attempt, so that it does not come again."""
        self._source.health.reject(Bad(TOO_LONG))
        self._source.health.received += 1  # so that it does not count as a failed attempt
        if self._cursor is not None:
            start = self._cursor + self._skip
            self._skip = max(1_000, 2 * self._skip)
            self._floor = self._cursor + self._skip
            await buffer.put(Gap(_time(start), _time(self._floor), f"a frame over {MAX_FRAME} bytes"))

    def _text(self) -> str | None:
        return None if self._cursor is None else str(self._cursor)


def _event(record: Mapping[str, Any], health: Health) -> Event | None:
    """The event in a frame; None for a frame without one, which is counted."""
    event = event_of(bluesky.parse(record) if bluesky.recognises(record) else Skip(OTHER_EVENT))
    if isinstance(event, Skip | Bad):
        health.reject(event)
        return None
    return event


def _moment(record: Mapping[str, Any]) -> int | None:
    """The time in microseconds at which the server saw the event; None if it is not stated."""
    moment = record.get("time_us")
    if moment is None:
        payload = part(record, "payload")
        parsed = parse_time(payload.get("witnessedAt") or payload.get("time"))
        return parsed if isinstance(parsed, int) and parsed >= 0 else None
    return moment if type(moment) is int and 0 <= moment < LATEST else None


def _time(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def _read(path: Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise SettingError(f"dictionary={str(path)!r}: cannot be read ({error.strerror})") from error
