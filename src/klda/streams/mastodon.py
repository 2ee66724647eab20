"""Mastodon's streaming API (server-sent events): the public timeline of a server, or the timelines of hashtags.

A stream cannot be read again, but the timelines can be asked for what came since the last status: so every time
without a connection is recorded as a gap, and filled as far as the server's timelines reach. Ids are the server's own
(`host/123`), because deletions name nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Literal
from urllib.parse import urlsplit

import httpx

from klda.errors import SettingError
from klda.streams.addresses import outside
from klda.streams.buffer import buffered
from klda.streams.http import Token
from klda.streams.mastodon_timelines import Listening
from klda.streams.platform_rules import hashtags
from klda.streams.protocol import Burst, Health
from klda.streams.reconnect import Backoff
from klda.types import KeywordSet

TOKEN = "MASTODON_TOKEN"  # noqa: S105 - the name of a variable


class Mastodon:
    """Posts that reach a Mastodon server.

    timeline: `public` for all of them, filtered on our side, or `hashtag` for the timelines of the keywords that can
    be hashtags, each over a connection of its own. token: the environment variable that holds the access token; some
    servers let anyone listen. stall: seconds without a sign of life before a connection is given up. only_outside:
    whether to refuse a server in the own network, as where strangers may name it.
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
            raise SettingError(f"server={server!r}: a Mastodon server is addressed like https://mastodon.social")
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
        """Refuses a server that leads into the own network, where that is asked for."""
        if self._only_outside:
            parts = urlsplit(self.server)
            await asyncio.to_thread(outside, parts.hostname or "", parts.port or 443)

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Follows the hashtags among the keywords: new timelines are open before old ones are closed."""
        if self.unfiltered:
            return
        tags = hashtags(keywords)
        if self._listening is not None:
            await self._listening.follow(tags)
        self._tags = tags

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields what arrives from now on, after what the timelines still hold of the time since the cursor."""
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
