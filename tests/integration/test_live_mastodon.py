"""Mastodon against a real server on loopback: nothing lost, nothing twice, whatever breaks."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from klda.errors import SourceError
from klda.streams import Backoff, Deleted, Filtered, Received, connections
from klda.streams.mastodon_stream import Mastodon
from klda.types import KeywordSet
from tests.integration.taking import SOON, Taking, Watching, run, watched_waits
from tests.servers.mastodon import MastodonServer, status


def mastodon(server: MastodonServer, **options: Any) -> Mastodon:
    return Mastodon(server.http.url, backoff=SOON, **options)


async def opened(server: MastodonServer, *tags: str) -> None:
    async with asyncio.timeout(5):
        while sorted(server.streams.values()) != sorted(tags):
            await asyncio.sleep(0.005)


def test_mastodon_brings_posts_edits_and_deletions() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with server.http.running(), Taking(mastodon(server)) as taking:
            await opened(server, "")
            await server.post(status(101, "first"))
            await server.post(status(101, "first, corrected"), "status.update")
            await server.send(b"event: delete\ndata: 101\n\n")
            await server.post(status(102, "Ünïcödé\u2028second"))
            await taking.until(lambda: len(taking.events) == 4)
        host = server.http.url.removeprefix("http://")
        first, edit, gone, second = taking.events
        assert isinstance(first, Received)
        assert isinstance(edit, Received)
        assert (first.row.id, first.row.text, first.edited) == (f"{host}/101", "first", False)
        assert (edit.row.text, edit.edited) == ("first, corrected", True)
        assert gone == Deleted(first.row.id)
        assert isinstance(second, Received)
        assert second.post.text == "Ünïcödé second"

    run(test())


def test_an_edit_that_its_deletion_has_overtaken_is_dropped() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with server.http.running(), Taking(mastodon(server)) as taking:
            await opened(server, "")
            await server.send(b"event: delete\ndata: 101\n\n")
            await server.post(status(101, "corrected"), "status.update")
            await server.post(status(102, "second"))
            await taking.until(lambda: len(taking.events) == 2)
        assert [type(event) for event in taking.events] == [Deleted, Received]
        assert taking.ids == ["102"]

    run(test())


def test_mastodon_fills_what_it_missed_and_records_the_gap() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with server.http.running():
            async with Taking(mastodon(server)) as taking:
                await opened(server, "")
                await server.post(status(101, "before"))
                await taking.until(lambda: taking.ids)
                server.reset()
                server.statuses += [status(102 + i, "while away") for i in range(100)]
                await taking.until(lambda: len(taking.ids) == 101)
                await taking.until(lambda: taking.gaps)
            server.statuses.append(status(300, "after the restart"))
            async with Taking(mastodon(server), taking.cursor) as again:
                await again.until(lambda: again.gaps)
        assert taking.ids == ["101", *(str(102 + i) for i in range(100))]
        [gap] = taking.gaps
        assert gap.filled
        assert gap.start < gap.end
        assert again.ids == ["300"]

    run(test())


def test_mastodon_follows_new_hashtags_before_it_leaves_old_ones() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(server.http.running())
            watched = Filtered(mastodon(server, timeline="hashtag"), KeywordSet.of("#health", "two words"))
            watching = await stack.enter_async_context(Watching(watched))
            await opened(server, "health")
            await server.post(status(1, "#health one", ("health",)))
            await watched.update_keywords(KeywordSet.of("#mask"))
            await opened(server, "mask")
            await server.post(status(2, "#mask two", ("mask",)))
            await server.post(status(3, "#health three", ("health",)))
            await server.post(status(4, "#mask four", ("mask",)))
            await watching.until(lambda: len(watching.collected) == 3)
        assert [event.keywords for event in watching.collected] == [("#health",), ("#mask",), ("#mask",)]
        assert server.opened == ["health", "mask"]
        assert not any(event.sampled for event in watching.collected), "a filtered stream has no unfiltered sample"

    run(test())


def test_a_hashtag_that_mastodon_refuses_does_not_end_the_others() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(server.http.running())
            watched = Filtered(mastodon(server, timeline="hashtag"), KeywordSet.of("#health"))
            watching = await stack.enter_async_context(Watching(watched))
            await opened(server, "health")
            server.refuse = [(404, {})]
            with pytest.raises(SourceError, match=r"could not open all timelines of mask: .* answered HTTP 404"):
                await watched.update_keywords(KeywordSet.of("#mask"))
            await server.post(status(1, "#health one", ("health",)))
            await watching.until(lambda: watching.collected)
            await watched.update_keywords(KeywordSet.of("#mask"))
            await opened(server, "mask")

    run(test())


def test_a_server_that_accepts_and_drops_is_waited_for_longer_each_time_whatever_its_other_timelines_bring() -> None:
    async def test() -> None:
        server = MastodonServer(drop={"mask"})
        backoff = Backoff(first=0.01, longest=1000.0, jitter=0.0)
        async with server.http.running():
            source = Mastodon(server.http.url, timeline="hashtag", backoff=backoff)
            await source.update_keywords(KeywordSet.of("#health", "#mask"))
            with watched_waits() as waits:
                async with Taking(source) as taking:
                    await opened(server, "health")
                    number = 0
                    while len(waits) < 5:
                        number += 1
                        await server.post(status(number, "#health", ("health",)))
                        await asyncio.sleep(0.001)
                    await taking.until(lambda: taking.ids)
        assert waits[:5] == pytest.approx([0.01, 0.02, 0.04, 0.08, 0.16])

    run(test())


def test_mastodon_waits_as_long_as_a_429_says_whatever_its_other_timelines_bring() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with server.http.running():
            source = mastodon(server, timeline="hashtag")
            await source.update_keywords(KeywordSet.of("#health", "#mask"))
            with watched_waits() as waits:
                async with Taking(source) as taking:
                    await opened(server, "health", "mask")

                    async def meanwhile() -> None:
                        seen = len(taking.ids)
                        await server.post(status(seen + 1, "#health", ("health",)))
                        await taking.until(lambda: len(taking.ids) > seen)

                    server.before_refusing = meanwhile
                    server.refuse = [(429, {"retry_after": "600"}), (429, {"retry_after": "600"})]
                    [cut] = [reply for reply, tag in server.streams.items() if tag == "mask"]
                    await server.post(status(1, "#mask", ("mask",)))
                    await taking.until(lambda: taking.ids)
                    cut.reset()
                    await taking.until(lambda: waits)
                    await meanwhile()
        assert waits == [600.0]
        assert sorted(server.opened) == ["health", "mask"]
        assert len(server.refuse) == 1, "it was not asked again"

    run(test())


def test_mastodon_counts_hostile_events_and_goes_on() -> None:
    async def test() -> None:
        server = MastodonServer()
        async with server.http.running(), Taking(source := mastodon(server)) as taking:
            await opened(server, "")
            await server.send(b"event: update\ndata: {broken\n\n")
            await server.send(b"event: update\ndata: [1]\n\n" + b"event: update\ndata: " + b"[" * 5000 + b"\n\n")
            await server.send(b'event: update\ndata: {"id": {}, "content": 7, "account": []}\n\n')
            await server.send(b"event: update\ndata: \xff\xfe\n\nevent: filters_changed\ndata: \n\n:thump\n")
            await server.post(status(7, "still here"))
            await taking.until(lambda: taking.ids)
            await server.send(b"event: update\ndata: " + b"x" * (connections.MAX_LINE + 10))
            await taking.until(lambda: source.health.reconnects == 1)
            await opened(server, "")
            await server.post(status(8, "and here"))
            await taking.until(lambda: len(taking.ids) == 2)
        assert sum(source.health.bad.values()) == 5
        assert taking.ids == ["7", "8"]

    run(test())


def test_a_refused_token_fails_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTODON_TOKEN", "wrong-and-secret")

    async def test() -> None:
        server = MastodonServer(token="right")
        async with server.http.running(), Taking(mastodon(server)) as taking:
            with pytest.raises(SourceError, match="MASTODON_TOKEN") as caught:
                await taking.until(lambda: False)
        assert "wrong-and-secret" not in str(caught.value)
        assert "***" in str(caught.value)

    run(test())
