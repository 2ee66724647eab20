"""X API v2: the filtered stream and its rules.

The past cannot be read again, except for the last minutes if the access level allows a backfill. So every time without
a connection is recorded as a gap. The cursor is the time in microseconds at which the stream last sent something.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import orjson

from klda.errors import SettingError, SourceError
from klda.posts.formats import x_v2
from klda.posts.formats.outcome import BROKEN_JSON, KEEP_ALIVE, NOT_AN_OBJECT, TOO_LONG, Bad, Row, Skip
from klda.posts.formats.values import as_name, items, part
from klda.streams.buffer import Buffer, Recent, buffered
from klda.streams.connections import TRANSIENT, Backoff, Busy, Token, accepted, lines, reconnecting, retried
from klda.streams.platform_rules import X2_RULES, platform_rules, tag_of
from klda.streams.protocol import Burst, Deleted, Gap, Health, Received
from klda.types import KeywordSet

API = "https://api.x.com"
TOKEN = "X_BEARER_TOKEN"  # noqa: S105 - the name of a variable
KEEP_ALIVE_SECONDS = 20.0

_FIELDS = {
    "tweet.fields": "author_id,conversation_id,created_at,entities,lang,note_tweet,public_metrics,referenced_tweets",
    "expansions": "author_id,referenced_tweets.id",
    "user.fields": "public_metrics,username",
}


class XStream:
    """Posts of X that match the keywords, filtered by X.

    token: the environment variable with the bearer token. backfill_minutes: how far back a new connection may reach,
    0 to 5, if the access level allows it. stall: seconds without data after which the connection is closed; X sends a
    keep-alive every 20. owner: the owner of the rules, such as the name of a monitor. The tags of rules name their
    owner, and rules with other tags are not changed. X stores equal rules once, so two owners cannot share a rule.
    """

    replayable = False
    unfiltered = False
    name = "X filtered stream"

    def __init__(
        self,
        server: str = API,
        *,
        token: str = TOKEN,
        backfill_minutes: int = 0,
        adjacent: bool = False,
        owner: str = "",
        stall: float = 1.5 * KEEP_ALIVE_SECONDS,
        backoff: Backoff | None = None,
    ) -> None:
        if not 0 <= backfill_minutes <= 5:
            raise SettingError(f"backfill_minutes must lie between 0 and 5, got {backfill_minutes}")
        self.health = Health()
        self._server, self._token = server.rstrip("/"), Token(token)
        self._adjacent, self._owner = adjacent, owner
        self._backfill, self._backoff = backfill_minutes, backoff or Backoff()
        self._timeout = httpx.Timeout(10.0, read=stall)

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Changes X's rules to these keywords; new rules are added before old ones are removed."""
        [request] = platform_rules(keywords, "x-v2", adjacent=self._adjacent, owner=self._owner).requests
        wanted = {rule["value"]: rule for rule in request["add"]}
        trouble = (*TRANSIENT, orjson.JSONDecodeError)
        try:
            await retried(lambda: self._synchronise(wanted), trouble, self._backoff)
        except (Busy, *trouble) as error:
            raise SourceError(f"{self.name}: the rules could not be changed ({error}); try again later") from error

    async def _synchronise(self, wanted: dict[str, dict[str, str]]) -> None:
        there, tag = items(await self._rules(None), "data"), tag_of(self._owner)
        ours = [rule for rule in there if str(rule.get("tag", "")).startswith(tag)]
        for rule in there:
            if rule.get("value") in wanted and rule not in ours and (other := _monitor_of(rule)):
                raise SettingError(
                    f"{self.name}: monitor {other} has the same rule on this account, and may remove it later; "
                    "change a keyword, use another account, or delete the rule if that monitor is gone"
                )
        values = {rule.get("value") for rule in there}
        add = [rule for value, rule in wanted.items() if value not in values]
        if len(there) + len(add) > X2_RULES:
            raise SettingError(
                f"X allows {X2_RULES} rules: {len(there)} exist, and {len(add)} must be added before the old ones are "
                "removed; remove keywords or forms"
            )
        if add:
            answer = await self._rules({"add": add})
            if part(part(answer, "meta"), "summary").get("not_created"):
                raise SettingError(
                    f"X refused rules: {self._token.redacted(str(answer.get('errors')))[:300]}; change the keywords"
                )
        old = [rule.get("id") for rule in ours if rule.get("value") not in wanted]
        if old:
            await self._rules({"delete": {"ids": old}})

    def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of arriving events, after those of the backfill."""
        try:
            heard = None if cursor is None else int(cursor)
        except ValueError as error:
            raise SettingError(f"cursor {cursor!r}: write microseconds since 1970") from error
        return buffered(_Listening(self, heard).run, cursor)

    async def _rules(self, change: dict[str, Any] | None) -> dict[str, Any]:
        """The answer of X to a change of the rules; without a change, the rules."""
        url = f"{self._server}/2/tweets/search/stream/rules"
        async with httpx.AsyncClient(timeout=self._timeout, headers=self._token.headers()) as client:
            answer = await (client.get(url) if change is None else client.post(url, json=change))
            await accepted(answer, self.name, self._token)
            content = orjson.loads(answer.content)
        return content if isinstance(content, dict) else {}


class _Listening:
    """One run of the stream, over any number of connections."""

    def __init__(self, source: XStream, heard: int | None) -> None:
        self._source, self._heard = source, heard
        self._recent = Recent()

    async def run(self, buffer: Buffer) -> None:
        """Listens without end."""
        source, health = self._source, self._source.health
        session = partial(self._session, buffer)
        await reconnecting(session, TRANSIENT, health, source._backoff, lambda: health.posts)

    async def _session(self, buffer: Buffer) -> None:
        """One connection, until it breaks, stalls, or is refused."""
        source = self._source
        missed = 0.0 if self._heard is None else (_now() - self._heard) / 1e6
        back = max(0, min(source._backfill, math.ceil(missed / 60)))  # negative if the clock was set back
        query = {**_FIELDS, **({"backfill_minutes": str(back)} if back else {})}
        url = f"{source._server}/2/tweets/search/stream"
        async with (
            httpx.AsyncClient(timeout=source._timeout, headers=source._token.headers()) as client,
            client.stream("GET", url, params=query, headers={"Accept-Encoding": "identity"}) as response,
        ):
            await accepted(response, source.name, source._token)
            if self._heard is not None:
                now = _now()
                filled = 0 <= now - self._heard <= 60e6 * back
                gap = Gap(_time(min(self._heard, now)), _time(now), "not connected", filled)
                await buffer.put(gap, self._mark())
            async for line in lines(response):
                await self._take(line, buffer)

    async def _take(self, line: bytes | None, buffer: Buffer) -> None:
        health = self._source.health
        self._heard = _now()
        for outcome in _outcomes(line):
            if isinstance(outcome, Skip | Bad):
                health.reject(outcome)
                health.received += outcome == Skip(KEEP_ALIVE)
                buffer.advance(self._mark())
            elif self._recent.is_new(outcome):
                health.count(outcome)
                await buffer.put(outcome, self._mark())
            else:
                health.duplicates += 1

    def _mark(self) -> str:
        return str(self._heard)


def _monitor_of(rule: Mapping[str, Any]) -> str | None:
    """The monitor that owns a rule; None for other rules."""
    found = re.match(r"klda ([\w-]+): ", str(rule.get("tag", "")))
    return found and found[1]


def _outcomes(line: bytes | None) -> list[Received | Deleted | Skip | Bad]:
    """The events and rejected records of a line."""
    if line is None:
        return [Bad(TOO_LONG)]
    if not line.strip():
        return [Skip(KEEP_ALIVE)]
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return [Bad(BROKEN_JSON, value=line[:100])]
    if not isinstance(record, dict):
        return [Bad(NOT_AN_OBJECT, value=record)]
    found = (Received(one) if isinstance(one, Row) else one for one in x_v2.parse_envelope(record))
    return [*found, *map(Deleted, _replaced(part(record, "data")))]


def _replaced(tweet: Mapping[str, Any]) -> list[str]:
    """The ids of earlier versions of an edited post; each version has its own id."""
    versions, own = tweet.get("edit_history_tweet_ids"), as_name(tweet.get("id")) or ""
    ids = map(as_name, versions if isinstance(versions, list) and own.isdecimal() else ())
    return [name for name in ids if name and name.isdecimal() and int(name) < int(own)]


def _now() -> int:
    return time.time_ns() // 1000


def _time(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1e6, UTC)
