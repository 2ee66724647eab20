"""The filter on our side: which keywords a post carries, whether it belongs to the sample, which keywords hold when.

Jetstream and files bring everything; a platform that filters brings what its own rules match. Either way the posts
pass here, so that "this post matches this keyword" means the same everywhere. A burst is matched at once, because one
call for many texts takes a hundredth of the time of one call for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from klda.errors import SettingError
from klda.posts.formats.outcome import Row
from klda.streams.protocol import Burst, Deleted, Gap, Received, Source
from klda.text.matching import Matcher
from klda.types import KeywordSet, Post


@dataclass(frozen=True, slots=True)
class Collected:
    """A post that carries keywords, or belongs to the unfiltered sample, or both."""

    row: Row
    keywords: tuple[str, ...]
    """Texts of the keywords that it carries; none when it is only in the sample."""
    sampled: bool = False
    edited: bool = False

    @property
    def post(self) -> Post:
        """The post."""
        return self.row.post()


@dataclass(frozen=True, slots=True)
class KeywordsHeld:
    """From here on these keywords hold: what comes before was matched with the ones before, or with both."""

    keywords: KeywordSet
    cursor: str | None
    """The source's cursor at this point; None when nothing came before."""


Selected: TypeAlias = Collected | KeywordsHeld | Deleted | Gap


@dataclass(frozen=True, slots=True)
class Selection:
    """What the filter leaves of a burst; `received` counts the posts that went in."""

    events: tuple[Selected, ...]
    cursor: str | None
    received: int


class Filtered:
    """A source seen through keywords.

    sample: the share of all posts that is kept, whatever they say; only where the source brings all posts. Whether a
    post belongs to it depends on its id and `seed` alone, so that it is the same after every restart.
    adjacent: whether the words of a phrase have to stand side by side.
    """

    def __init__(
        self, source: Source, keywords: KeywordSet, *, sample: float = 0.01, seed: int = 0, adjacent: bool = False
    ) -> None:
        if not 0 <= sample <= 1:
            raise SettingError(f"sample must lie between 0 and 1, got {sample}")
        self.source = source
        self._adjacent = adjacent
        self._matchers: tuple[Matcher, ...] = (Matcher(keywords, adjacent=adjacent),)
        self._sample, self._seed = sample if source.unfiltered else 0.0, seed.to_bytes(8, "big", signed=True)
        self._announced: KeywordSet | None = None
        self._changing = asyncio.Lock()

    @property
    def keywords(self) -> KeywordSet:
        """The keywords that hold now."""
        return self._matchers[0].keywords

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Selection, None]:
        """Yields what is left of every burst, even when it is only the cursor; starts with the keywords that hold."""
        async with self._changing:
            await self.source.update_keywords(self.keywords)
        self._announced = None
        async with aclosing(self.source.bursts(cursor)) as bursts:
            async for burst in bursts:
                matchers = self._matchers  # taken once: a burst never sees two lists in turn
                held: tuple[KeywordsHeld, ...] = ()
                if len(matchers) == 1 and self._announced != matchers[0].keywords:
                    self._announced = matchers[0].keywords
                    held = (KeywordsHeld(self._announced, cursor),)
                yield self._select(burst, matchers, held)
                cursor = burst.cursor

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Changes the keywords while the stream runs; until the platform has them too, old and new ones are matched."""
        matcher = await asyncio.to_thread(Matcher, keywords, adjacent=self._adjacent)
        async with self._changing:
            [before] = self._matchers
            self._matchers = (before, matcher)
            try:
                await self.source.update_keywords(keywords)
            except BaseException:
                self._matchers = (before,)
                raise
            self._matchers = (matcher,)

    def _select(self, burst: Burst, matchers: tuple[Matcher, ...], held: tuple[KeywordsHeld, ...]) -> Selection:
        texts = [event.row.text for event in burst.events if isinstance(event, Received)]
        tags = _tags(matchers, texts)
        kept: list[Selected] = list(held)
        at = 0
        for event in burst.events:
            if not isinstance(event, Received):
                kept.append(event)
                continue
            keywords, sampled = tags.get(at, ()), self.samples(event.row.id)
            at += 1
            if keywords or sampled:
                kept.append(Collected(event.row, keywords, sampled, event.edited))
            elif event.edited:
                kept.append(Deleted(event.row.id))  # what it said before is taken back, what it says now is not wanted
        return Selection(tuple(kept), burst.cursor, at)

    def samples(self, post_id: str) -> bool:
        """Whether a post belongs to the unfiltered sample."""
        if not self._sample:
            return False
        digest = blake2b(post_id.encode("utf-8", "surrogatepass"), digest_size=8, key=self._seed).digest()
        return int.from_bytes(digest, "big") < self._sample * 2**64


def _tags(matchers: tuple[Matcher, ...], texts: list[str]) -> dict[int, tuple[str, ...]]:
    """The keywords of each text that carries any, by its position."""
    tags: dict[int, dict[str, None]] = {}
    for matcher in matchers if texts else ():
        names, found = matcher.keywords.texts, matcher.match_many(texts)
        for row, column in zip(found.rows.tolist(), found.values.tolist(), strict=True):
            tags.setdefault(row, {})[names[column]] = None
    return {row: tuple(carried) for row, carried in tags.items()}
