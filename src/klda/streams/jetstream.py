"""Bluesky's Jetstream, versions 1 and 2, over a websocket.

Jetstream filters no text: every post of the network arrives and is filtered on our side. The cursor is the server's
time in microseconds, which both versions take; unlike the sequence numbers of version 2, it also holds on another
server. On every connection it is stepped back by a few seconds, and what comes again is dropped.
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
"""Bytes of one frame, unpacked; a post takes about a thousandth of that."""
SILENCE = timedelta(hours=1)
"""A stream of a whole network that resumes so much later than asked has forgotten what was in between."""

_PATHS = {1: "/subscribe", 2: "/xrpc/network.bsky.jetstream.subscribeEvents"}
_TOO_BIG = 1009  # close code of a frame over the limit
_TRANSIENT = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError)
_SILENCE = SILENCE // timedelta(microseconds=1)


class _Direct(connect):
    """A connection to the server that was named, and to none that it points to."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Jetstream:
    """Every post of Bluesky, as it is written.

    server: `wss://host`; the path and the query are added. version: of the protocol that it speaks.
    step_back: seconds to go back on every connection.
    dictionary: a file with the Zstandard dictionary of the server; with it, frames travel packed.
    only_outside: whether to refuse a server in the own network, as where strangers may name it.
    """

    replayable = True
    unfiltered = True
    name = "jetstream"  # whichever server: cursors and ids hold on all of them, and so does what is stored by this name

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
            raise SettingError(f"server={server!r}: a Jetstream is addressed like {PUBLIC}")
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
        """Does nothing: everything arrives anyway."""

    def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields what arrives, from the cursor on or from now."""
        try:
            start = None if cursor is None else int(cursor)
        except ValueError as error:
            raise SettingError(f"cursor {cursor!r}: Jetstream's are microseconds since 1970") from error
        return buffered(_Reading(self, start).run, cursor)

    def url(self, cursor: int | None) -> str:
        """The address that resumes at a time in microseconds."""
        wanted = "wantedCollections" if self._version == 1 else "collections"
        query: list[tuple[str, object]] = [(wanted, bluesky.POST), ("maxMessageSizeBytes", MAX_FRAME)]
        if self._version == 2:
            query += [("kinds", "commit"), ("kinds", "account")]  # version 1 always tells of accounts
        if self._packing is not None:
            query.append(("compress", "true") if self._version == 1 else ("zstdDictionary", self._packing.dict_id()))
        if cursor is not None:
            query.append(("cursor", max(cursor, 0)))
        return f"{self._server}{_PATHS[self._version]}?{urlencode(query)}"

    async def connection(self, cursor: int | None) -> connect:
        """A connection, still to be opened, that resumes at this time."""
        subprotocols = [Subprotocol("xrpc.v1.json")] if self._version == 2 else None
        where: dict[str, Any] = {}
        if self._only_outside:  # to the address that was looked at: the name could lead elsewhere the next time
            parts = urlsplit(self._server)
            port = parts.port or (443 if parts.scheme == "wss" else 80)
            where = {"host": (await asyncio.to_thread(outside, parts.hostname or "", port))[0], "port": port}
        return _Direct(
            self.url(cursor),
            **where,
            compression=None,
            max_size=MAX_FRAME,
            max_queue=256,
            close_timeout=0.5,  # a reader that is held up cannot hear the answer to its goodbye
            subprotocols=subprotocols,
        )

    def decoded(self, frame: bytes) -> Mapping[str, Any] | Bad:
        """A frame, packed or not, as a record."""
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
        """Microseconds to go back on every connection."""
        return self._step_back

    @property
    def backoff(self) -> Backoff:
        """How long to wait between attempts."""
        return self._backoff


class _Reading:
    """One run through the stream: what was seen last, and how to go on from there."""

    def __init__(self, source: Jetstream, cursor: int | None) -> None:
        self._source, self._cursor = source, cursor
        self._before = cursor or 0  # the time of the event before
        self._recent = Recent()
        self._floor = self._skip = 0  # where a frame that cannot be taken is passed, and how far that jump went

    async def run(self, buffer: Buffer) -> None:
        """Reads for ever."""
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
            raise SourceError(f"jetstream {self._source.host}: not an address ({error}); check it") from error
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
            record = source.decoded(await socket.recv(decode=False))  # decoding would end the connection at bad UTF-8
            if isinstance(record, Bad):
                health.reject(record)
                continue
            moment = _moment(record)
            if moment is not None:
                if resumed and asked and moment - asked > _SILENCE:
                    reason = "the server does not look back that far"
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
        """Moves the cursor on; far ahead only where two events in a row agree: one wrong clock skips nothing."""
        far = self._cursor is not None and moment - self._cursor > _SILENCE
        agreed = min(moment, self._before) if far else moment
        self._cursor, self._before = max(self._cursor or 0, agreed), moment

    async def _jump(self, buffer: Buffer) -> None:
        """Past a frame that is too big, which would come again and again: further each time until it is passed."""
        self._source.health.reject(Bad(TOO_LONG))
        self._source.health.received += 1  # not a failed attempt
        if self._cursor is not None:
            start = self._cursor + self._skip
            self._skip = max(1_000, 2 * self._skip)
            self._floor = self._cursor + self._skip
            await buffer.put(Gap(_time(start), _time(self._floor), f"a frame over {MAX_FRAME} bytes"))

    def _text(self) -> str | None:
        return None if self._cursor is None else str(self._cursor)


def _event(record: Mapping[str, Any], health: Health) -> Event | None:
    """What a frame brings; None when it is counted and brings nothing."""
    event = event_of(bluesky.parse(record) if bluesky.recognises(record) else Skip(OTHER_EVENT))
    if isinstance(event, Skip | Bad):
        health.reject(event)
        return None
    return event


def _moment(record: Mapping[str, Any]) -> int | None:
    """When the server saw the event, in microseconds; None when it does not say so."""
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
