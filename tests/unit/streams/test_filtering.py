"""The filter on our side: the right posts and tags, the same sample every time, keywords that swap between posts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.errors import SettingError, SourceError
from klda.posts.formats.outcome import Row
from klda.streams import Burst, Collected, Deleted, Event, Filtered, Health, KeywordsHeld, Received, Selection
from klda.text.matching import Matcher
from klda.types import Keyword, KeywordSet


class Given:
    """A source of given bursts; a change of keywords takes until `hold` is set, or fails."""

    name, replayable = "given", True

    def __init__(self, bursts: list[list[Event]], unfiltered: bool = True) -> None:
        self._bursts, self.unfiltered, self.health = bursts, unfiltered, Health()
        self.followed: list[KeywordSet] = []
        self.hold: asyncio.Event | None = None
        self.fail = False

    async def update_keywords(self, keywords: KeywordSet) -> None:
        if self.fail:
            raise SourceError("no")
        if self.hold is not None:
            await self.hold.wait()
        self.followed.append(keywords)

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        for number, events in enumerate(self._bursts, 1):
            yield Burst(tuple(events), str(number))
            await asyncio.sleep(0)


def said(text: str, number: int = 0) -> Received:
    return Received(Row(str(number or text), 0, text))


def all_of(filtered: Filtered) -> list[Selection]:
    async def take() -> list[Selection]:
        async with aclosing(filtered.bursts()) as bursts:
            return [selection async for selection in bursts]

    return asyncio.run(take())


def test_posts_are_tagged_and_the_others_dropped_while_the_cursor_goes_on() -> None:
    source = Given([[said("health and drugs"), said("cats")], [said("dogs")], [Deleted("x"), said("DRUGS!")]])
    selections = all_of(Filtered(source, KeywordSet.of("health", "drugs"), sample=0))
    assert [s.cursor for s in selections] == ["1", "2", "3"]
    assert [s.received for s in selections] == [2, 1, 1]
    held, first = selections[0].events
    assert held == KeywordsHeld(KeywordSet.of("health", "drugs"), None)
    assert isinstance(first, Collected)
    assert first.keywords == ("health", "drugs")
    assert selections[1].events == ()
    gone, last = selections[2].events
    assert gone == Deleted("x")
    assert isinstance(last, Collected)
    assert last.keywords == ("drugs",)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["health", "drug", "mask", "virus", "computer", "cat"]).map(str), max_size=40))
def test_the_filter_agrees_with_the_one_definition_of_matching(words: list[str]) -> None:
    texts = [" ".join(words[i : i + 3]) for i in range(0, len(words), 2)]
    keywords = KeywordSet.of("health", "computer virus", Keyword("masks", ("mask", "masks")))
    source = Given([[said(text, i + 1) for i, text in enumerate(texts)]])
    [selection] = all_of(Filtered(source, keywords, sample=0))
    matcher = Matcher(keywords)
    expected = {
        str(i + 1): tuple(keywords.texts[c] for c in matcher.match(text))
        for i, text in enumerate(texts)
        if matcher.match(text)
    }
    assert {e.row.id: e.keywords for e in selection.events if isinstance(e, Collected)} == expected


def test_the_sample_is_the_same_at_every_pass_and_about_as_large_as_asked() -> None:
    events: list[Event] = [said("nothing of interest", number) for number in range(1, 20_001)]
    chosen = []
    for bursts in ([events], [events[i : i + 777] for i in range(0, 20_000, 777)]):
        filtered = Filtered(Given(bursts), KeywordSet.of("health"), sample=0.05, seed=7)
        chosen.append([e.row.id for s in all_of(filtered) for e in s.events if isinstance(e, Collected) and e.sampled])
    assert chosen[0] == chosen[1]
    assert abs(len(chosen[0]) - 1000) < 5 * (20_000 * 0.05 * 0.95) ** 0.5
    other = Filtered(Given([events]), KeywordSet.of("health"), sample=0.05, seed=8)
    assert {e.row.id for s in all_of(other) for e in s.events if isinstance(e, Collected)} != set(chosen[0])


def test_a_larger_sample_contains_the_smaller_one() -> None:
    small = Filtered(Given([]), KeywordSet.of("health"), sample=0.01)
    large = Filtered(Given([]), KeywordSet.of("health"), sample=0.1)
    assert all(large.samples(str(i)) for i in range(5000) if small.samples(str(i)))


def test_a_stream_that_the_platform_filters_has_no_sample() -> None:
    filtered = Filtered(Given([[said("cats")]], unfiltered=False), KeywordSet.of("health"), sample=1)
    assert [e for s in all_of(filtered) for e in s.events if isinstance(e, Collected)] == []


def test_while_the_platform_changes_its_rules_old_and_new_keywords_are_both_matched() -> None:
    async def test() -> None:
        source = Given([[said("health mask", i)] for i in range(1, 7)])
        filtered = Filtered(source, KeywordSet.of("health"), sample=0)
        got: list[object] = []
        async with aclosing(filtered.bursts()) as bursts:
            got += (await anext(bursts)).events
            source.hold = asyncio.Event()
            swap = asyncio.ensure_future(filtered.update_keywords(KeywordSet.of("mask")))
            while len(filtered._matchers) == 1:
                await asyncio.sleep(0.001)
            got += (await anext(bursts)).events
            source.hold.set()
            await swap
            async for selection in bursts:
                got += selection.events
        tags = [event.keywords if isinstance(event, Collected) else event for event in got]
        assert tags == [
            KeywordsHeld(KeywordSet.of("health"), None),
            ("health",),
            ("health", "mask"),
            KeywordsHeld(KeywordSet.of("mask"), "2"),
            *[("mask",)] * 4,
        ]

    asyncio.run(test())


def test_a_change_that_the_platform_refuses_leaves_the_old_keywords_in_force() -> None:
    async def test() -> None:
        source = Given([[said("health mask", 1)], [said("health mask", 2)]])
        filtered = Filtered(source, KeywordSet.of("health"), sample=0)
        async with aclosing(filtered.bursts()) as bursts:
            await anext(bursts)
            source.fail = True
            with pytest.raises(SourceError):
                await filtered.update_keywords(KeywordSet.of("mask"))
            [post] = (await anext(bursts)).events
        assert isinstance(post, Collected)
        assert post.keywords == ("health",)
        assert filtered.keywords == KeywordSet.of("health")

    asyncio.run(test())


def test_keywords_that_cannot_be_matched_are_refused_before_anything_changes() -> None:
    filtered = Filtered(Given([]), KeywordSet.of("health"))
    with pytest.raises(SettingError):
        asyncio.run(filtered.update_keywords(KeywordSet.of("#")))
    assert filtered.keywords == KeywordSet.of("health")
    with pytest.raises(SettingError, match="sample"):
        Filtered(Given([]), KeywordSet.of("health"), sample=2)
