"""Mastodon's streaming API (server-sent events): the public timeline of a server, or the timelines of hashtags.

A stream cannot be read again, but timelines can be asked for the statuses since the last one. So every time without a
connection is recorded as a gap, and filled as far back as the timelines reach. Ids are those of the server
(`host/123`), because deletions name only these.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpx
import orjson
from httpx_sse import EventSource, ServerSentEvent, SSEError

from klda.errors import SettingError, SourceError
from klda.posts.formats import mastodon
from klda.posts.formats.outcome import BROKEN_JSON, OTHER_EVENT, Bad, Row, Skip
from klda.streams.buffer import Buffer, Recent, buffered
from klda.streams.connections import TRANSIENT, Backoff, Busy, Token, accepted, bounded, outside, reconnecting
from klda.streams.platform_rules import hashtags
from klda.streams.protocol import Burst, Deleted, Event, Gap, Health, Received
from klda.types import KeywordSet

PAGE, PAGES = 40, 25
"""Statuses on a page of a timeline, and the largest number of pages to go back."""
OPEN_SECONDS = 30.0
"""Seconds in which the timeline of a new hashtag must open; otherwise the change of keywords fails."""


class Listening:
    """One run: a task for each timeline, all with one buffer. The cursor is `time in microseconds/last status`."""

    def __init__(self, source: Mastodon, cursor: str | None) -> None:
        self._source, self._recent = source, Recent()
        self._streams: dict[str, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._ended = asyncio.Event()
        heard, _, self.last = (cursor or "0/").partition("/")  # the newest status from any timeline
        if not heard.isdecimal() or not (self.last.isdecimal() or not self.last):
            raise SettingError(f"cursor {cursor!r}: a cursor of Mastodon looks like 1767607200000000/109")
        self._heard = int(heard) if cursor else None
        self._down: dict[str, tuple[int, str]] = {}
        self._buffer: Buffer | None = None

    async def run(self, buffer: Buffer, tags: tuple[str, ...]) -> None:
        """Listens until a timeline fails with an error that is not transient."""
        self._buffer = buffer
        try:
            for tag in tags:
                self._keep(tag, self._open(tag, self._heard))
            await self._ended.wait()
            for task, _ in self._streams.values():
                if task.done():
                    await task
        finally:
            self._ended.set()
            await self._close(tuple(self._streams))

    async def follow(self, tags: tuple[str, ...]) -> None:
        """Opens the new timelines, and then closes those that are no longer wanted."""
        new = {tag: self._open(tag, None) for tag in tags if tag not in self._streams}
        try:
            for task, opened in new.values():
                waiting = [asyncio.ensure_future(event.wait()) for event in (opened, self._ended)]
                try:
                    await asyncio.wait([*waiting, task], timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    await _cancelled(waiting)
                if self._ended.is_set() or not opened.is_set():
                    why = f": {task.exception()}" if task.done() else ""
                    raise SourceError(f"{self._source.name}: could not open all timelines of {', '.join(new)}{why}")
        except BaseException:
            await _cancelled(task for task, _ in new.values())
            self.up(*new)
            raise
        for tag, stream in new.items():  # only now: a timeline that cannot be opened must not end the others
            self._keep(tag, stream)
        await self._close(tuple(tag for tag in self._streams if tag not in tags))

    def _open(self, tag: str, heard: int | None) -> tuple[asyncio.Task[None], asyncio.Event]:
        timeline = _Timeline(self, self._source, tag, heard)
        if heard is not None:
            self.down(tag, heard, self.last)
        return asyncio.ensure_future(timeline.run()), timeline.open

    def _keep(self, tag: str, stream: tuple[asyncio.Task[None], asyncio.Event]) -> None:
        """Adds a timeline to those that are followed. If it fails, all end."""
        self._streams[tag] = stream
        stream[0].add_done_callback(lambda task: None if task.cancelled() else self._ended.set())

    async def _close(self, tags: tuple[str, ...]) -> None:
        await _cancelled(self._streams.pop(tag)[0] for tag in tags)
        self.up(*tags)

    def down(self, tag: str, heard: int, last: str) -> None:
        """Notes that a timeline has no connection, when it last answered, and the newest status of all at that time."""
        self._down[tag] = heard, last

    def up(self, *tags: str) -> None:
        """Notes that timelines have a connection and no gap, or are no longer followed."""
        for tag in tags:
            self._down.pop(tag, None)

    async def put(self, event: Event, status: str = "") -> bool:
        """Adds an event to the buffer, unless another timeline brought it; returns whether it was new."""
        assert self._buffer is not None
        health = self._source.health
        if not self._recent.is_new(event):
            health.duplicates += 1
            return False
        health.count(event)
        await self._buffer.put(event)
        self.last = _newer(self.last, status)  # only now: another timeline may have moved the cursor during the wait
        self._buffer.advance(self.cursor)
        return True

    def alive(self) -> None:
        """Notes that the server is alive."""
        assert self._buffer is not None
        self._source.health.received += 1
        self._buffer.advance(self.cursor)

    @property
    def cursor(self) -> str:
        """Where to resume. While a timeline has no connection, it is the place of that timeline, not of the others."""
        heard = min((heard for heard, _ in self._down.values()), default=_now())
        last = min((int(last) for _, last in (*self._down.values(), (0, self.last)) if last), default="")
        return f"{heard}/{last}"


class _Timeline:
    """One timeline: its connection, and the statuses that it missed without one."""

    def __init__(self, listening: Listening, source: Mastodon, tag: str, heard: int | None) -> None:
        self._listening, self._source, self._tag, self._heard = listening, source, tag, heard
        self._last = listening.last  # of this timeline: the others may be further
        self._reached = listening.last  # of all timelines, when this one last answered
        self._brought = 0  # of this timeline: events of others say nothing about its connection
        self.open = asyncio.Event()

    async def run(self) -> None:
        """Listens without end."""
        source, transient = self._source, (*TRANSIENT, SSEError)
        await reconnecting(self._session, transient, source.health, source.backoff, lambda: self._brought)

    async def _session(self) -> None:
        source = self._source
        headers = source.token.headers(needed=False) | {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        path = f"hashtag?tag={quote(self._tag)}" if self._tag else "public"
        await source.look()
        async with (
            httpx.AsyncClient(timeout=source.timeout, headers=headers) as client,
            client.stream("GET", f"{source.server}/api/v1/streaming/{path}") as response,
        ):
            await accepted(response, source.name, source.token)
            if self._heard is not None:  # the stream is already open, so no status is missed in between
                await self._fill(client, self._heard)
            self.open.set()
            self._listening.up(self._tag)
            self._alive()
            try:
                async for sent in EventSource(bounded(response, self._alive)).aiter_sse():
                    await self._take(sent)
            finally:
                self._listening.down(self._tag, self._heard or _now(), self._reached)

    def _alive(self) -> None:
        self._heard, self._reached = _now(), self._listening.last
        self._listening.alive()

    async def _take(self, sent: ServerSentEvent) -> None:
        if sent.event == "delete":
            self._brought += await self._listening.put(Deleted(f"{self._source.host}/{sent.data.strip()}"))
        elif sent.event in ("update", "status.update"):
            try:
                await self._status(orjson.loads(sent.data), sent.event == "status.update")
            except orjson.JSONDecodeError:
                self._source.health.reject(Bad(BROKEN_JSON, value=sent.data[:100]))
        else:
            self._source.health.reject(Skip(OTHER_EVENT))

    async def _status(self, status: object, edited: bool = False) -> None:
        outcome = mastodon.parse_of(self._source.host, status)
        if isinstance(outcome, Row):
            status_id = outcome.id.rpartition("/")[2]
            self._last = _newer(self._last, status_id)
            self._brought += await self._listening.put(Received(outcome, edited), status_id)
        else:
            self._source.health.reject(outcome)

    async def _fill(self, client: httpx.AsyncClient, since: int) -> None:
        """Fetches the statuses since the last one, and records the gap in any case."""
        after, filled = self._last, bool(self._last)
        for page in range(PAGES if filled else 0):
            try:
                statuses = await self._page(client, after)
            except (Busy, SourceError, *TRANSIENT, orjson.JSONDecodeError):
                filled = False
                break
            for status in reversed(statuses):  # the newest status comes first on a page
                await self._status(status)
            ids = [int(status["id"]) for status in statuses if str(status.get("id")).isdecimal()]
            if len(statuses) < PAGE or not ids:
                break
            after, filled = str(max(ids)), page < PAGES - 1
        gap = Gap(datetime.fromtimestamp(since / 1e6, UTC), datetime.now(UTC), "not connected", filled)
        await self._listening.put(gap)

    async def _page(self, client: httpx.AsyncClient, after: str) -> list[dict[str, Any]]:
        """The statuses directly after one, the newest first."""
        path = f"tag/{quote(self._tag)}" if self._tag else "public"
        url = f"{self._source.server}/api/v1/timelines/{path}"
        async with client.stream("GET", url, params={"min_id": after, "limit": PAGE}) as answer:
            await accepted(answer, self._source.name, self._source.token)
            content = orjson.loads(await bounded(answer).aread())
        return [status for status in content if isinstance(status, dict)] if isinstance(content, list) else []


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancels tasks, and waits until they have ended."""
    ended = list(tasks)
    for task in ended:
        task.cancel()
    await asyncio.gather(*ended, return_exceptions=True)


def _newer(one: str, other: str) -> str:
    """The larger of two status ids; a text that is no id is ignored."""
    return other if other.isdecimal() and int(other) > int(one or 0) else one


def _now() -> int:
    return time.time_ns() // 1000


TOKEN = "MASTODON_TOKEN"  # noqa: S105 - the name of a variable


class Mastodon:
    """Posts that reach a Mastodon server.

    timeline: `public` for all posts, which klda filters; or `hashtag` for the timelines of the keywords that can be
    hashtags, each with its own connection. token: the environment variable with the access token; some servers need
    none. stall: seconds without data after which a connection is closed. only_outside: whether to refuse a server in
    the own network, for servers that strangers may name.
    """

    replayable = False

    def __init__(
        self,
        server: str = "https://mastodon.social",
        *,
        timeline: Literal["public", "hashtag"] = "public",
        token: str = TOKEN,
        stall: float = 60.0,
        only_outside: bool = False,
        backoff: Backoff | None = None,
    ) -> None:
        host = urlsplit(server).netloc
        if urlsplit(server).scheme not in ("http", "https") or not host:
            raise SettingError(
                f"server={server!r}: write the address of a Mastodon server like https://mastodon.social"
            )
        if timeline not in ("public", "hashtag"):
            raise SettingError(f'timeline must be "public" or "hashtag", got {timeline!r}')
        self.name, self.host = f"mastodon {host}", host
        self.unfiltered = timeline == "public"
        self.health = Health()
        self.server, self.token = server.rstrip("/"), Token(token)
        self.backoff = backoff or Backoff()
        self.timeout = httpx.Timeout(10.0, read=stall)
        self._only_outside = only_outside
        self._tags: tuple[str, ...] = ()
        self._listening: Listening | None = None

    async def look(self) -> None:
        """Raises SettingError for a server in the own network, if `only_outside` is set."""
        if self._only_outside:
            parts = urlsplit(self.server)
            await asyncio.to_thread(outside, parts.hostname or "", parts.port or 443)

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Follows the hashtags among the keywords; new timelines open before old ones close."""
        if self.unfiltered:
            return
        tags = hashtags(keywords)
        if self._listening is not None:
            await self._listening.follow(tags)
        self._tags = tags

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of arriving events, after those since the cursor that the timelines still have."""
        if not self.unfiltered and not self._tags:
            raise SettingError("no hashtag to follow; give keywords first")
        listening = self._listening = Listening(self, cursor)
        inner = buffered(lambda buffer: listening.run(buffer, ("",) if self.unfiltered else self._tags), cursor)
        try:
            async for burst in inner:
                yield burst
        finally:
            self._listening = None
            await inner.aclose()
