"""Live sources against real servers on loopback: nothing lost, nothing twice, whatever breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pytest
import zstandard

from klda.errors import KldaError, SettingError, SourceError
from klda.sources.live import Backoff, Collected, Deleted, Event, Filtered, Gap, KeywordsHeld, Received, Source
from klda.sources.live import http as live_http
from klda.sources.live.jetstream import MAX_FRAME, Jetstream
from klda.sources.live.mastodon import Mastodon
from klda.sources.live.x_v2 import XStream
from klda.types import KeywordSet, Post
from tests.servers.http import HttpServer, Reply, Request
from tests.servers.jetstream import JetstreamServer, deletion, frame, frames_of
from tests.servers.mastodon import MastodonServer, status
from tests.servers.x import XServer, tweet

T = TypeVar("T")
SOON = Backoff(first=0.01, longest=0.05, jitter=0.01)
START = datetime(2026, 1, 5, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def run(test: Coroutine[Any, Any, T]) -> T:
    """Runs a test, in bounded time, and sees to it that no task outlives it."""

    async def bounded() -> T:
        async with asyncio.timeout(20):
            result = await test
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for _ in range(50):
            if not (left := {task for task in left if not task.done()}):
                break
            await asyncio.sleep(0.01)
        assert not left, left
        return result

    return asyncio.run(bounded())


def posts(n: int, text: Callable[[int], str] = lambda i: f"post number {i}", every: float = 0.1) -> list[Post]:
    return [Post(str(i), START + timedelta(seconds=every * i), text(i), author="anna") for i in range(n)]


class Taking:
    """Takes events off a source, in a task, until it is told to stop."""

    def __init__(self, source: Source, cursor: str | None = None) -> None:
        self.source, self.cursor = source, cursor
        self.events: list[Event] = []

    @property
    def ids(self) -> list[str]:
        return [event.row.id.rpartition("/")[2] for event in self.events if isinstance(event, Received)]

    @property
    def gaps(self) -> list[Gap]:
        return [event for event in self.events if isinstance(event, Gap)]

    async def _take(self) -> None:
        async with aclosing(self.source.bursts(self.cursor)) as bursts:
            async for burst in bursts:
                self.events.extend(burst.events)
                self.cursor = burst.cursor

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                if self.task.done():
                    await self.task
                await asyncio.sleep(0.005)

    async def __aenter__(self) -> Taking:
        self.task = asyncio.ensure_future(self._take())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


# Jetstream


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("how", ["reset", "half", "close"])
def test_jetstream_loses_and_doubles_nothing_however_the_connection_breaks(how: str, version: Any) -> None:
    async def test() -> None:
        server = JetstreamServer(
            frames_of(posts(500), version), breaks=lambda connection: how if connection.sent >= 150 else None
        )
        async with server.running():
            source = Jetstream(server.url, version=version, step_back=2, backoff=SOON)
            async with Taking(source, "0") as taking:
                await taking.until(lambda: len(taking.ids) >= 500)
        assert taking.ids == [str(i) for i in range(500)]
        assert source.health.reconnects >= 3
        assert source.health.duplicates > 0, "it steps back, so that something has to come twice"
        assert not taking.gaps

    run(test())


def test_jetstream_resumes_from_the_cursor_of_a_stored_burst() -> None:
    async def test() -> None:
        async with JetstreamServer(frames_of(posts(300))).running() as server:
            async with Taking(Jetstream(server.url, backoff=SOON), "0") as before:
                await before.until(lambda: len(before.ids) >= 300)
            server.add(*frames_of(posts(400)[300:]))
            async with Taking(Jetstream(server.url, step_back=1, backoff=SOON), before.cursor) as after:
                await after.until(lambda: "399" in after.ids)
        assert sorted({*before.ids, *after.ids}, key=int) == [str(i) for i in range(400)]
        assert after.ids == [str(i) for i in range(289, 400)], "one second, ten posts, is stepped back"

    run(test())


def test_jetstream_survives_a_server_that_is_restarted() -> None:
    async def test() -> None:
        server = JetstreamServer(frames_of(posts(100)))
        async with AsyncExitStack() as first:
            await first.enter_async_context(server.running())
            source = Jetstream(server.url, backoff=SOON)
            async with Taking(source, "0") as taking:
                await taking.until(lambda: len(taking.ids) == 100)
                await first.aclose()
                server.add(*frames_of(posts(200)[100:]))
                await asyncio.sleep(0.1)
                async with server.running():
                    await taking.until(lambda: len(taking.ids) == 200)
        assert taking.ids == [str(i) for i in range(200)]

    run(test())


def test_jetstream_passes_deletions_on() -> None:
    async def test() -> None:
        moment = frames_of(posts(1))[0][0]
        frames = [*frames_of(posts(1)), (moment + 1, deletion("did:plc:anna", "0", moment + 1))]
        async with JetstreamServer(frames).running() as server, Taking(Jetstream(server.url), "0") as taking:
            await taking.until(lambda: len(taking.events) == 2)
        [received, deleted] = taking.events
        assert isinstance(received, Received)
        assert deleted == Deleted(received.row.id)

    run(test())


def test_hostile_frames_are_counted_and_cost_nothing_else() -> None:
    async def test() -> None:
        good = frames_of(posts(20))
        at = good[10][0]
        hostile = [
            b"",
            b"\xff\xfe not UTF-8",
            b'{"text": "\xff"}',
            b"[" * 100_000,
            b'{"a":' * 50_000,
            b"{",
            b"null",
            b"17",
            b'{"did": 1, "time_us": "soon", "kind": ["commit"], "commit": {"operation": {}}}',
            b'{"did": "d", "time_us": 99999999999999999999, "kind": "commit", "commit": null}',
            b'{"did": "d", "time_us": -5, "kind": "commit", "commit": {"operation": "create"}}',
            b'{"$type": "message", "payload": "x"}',
            zstandard.compress(b"{" * 10_000_000),
            b"\x28\xb5\x2f\xfd broken",
            # a time far ahead must not become the cursor, or the next connection would begin there
            frame(posts(1, lambda i: "far ahead")[0], 7_000_000_000_000_000),
        ]
        frames = [*good[:10], *((at - 1, content) for content in hostile), *good[10:]]
        server = JetstreamServer(
            frames, breaks=lambda c: "reset" if c.number == 0 and c.sent == len(frames) - 5 else None
        )
        async with server.running():
            source = Jetstream(server.url, step_back=1, backoff=SOON)
            async with Taking(source, "0") as taking:
                await taking.until(lambda: "19" in taking.ids)
        assert sorted(set(taking.ids), key=int) == [str(i) for i in range(20)]
        assert sum(source.health.bad.values()) + sum(source.health.skipped.values()) >= len(hostile) - 1

    run(test())


def test_a_frame_that_is_too_big_is_jumped_and_the_jump_recorded() -> None:
    async def test() -> None:
        good = frames_of(posts(100))
        giant = (good[50][0] - 1, b'{"text": "' + b"x" * MAX_FRAME + b'"}')
        async with JetstreamServer([*good[:50], giant, *good[50:]]).running() as server:
            source = Jetstream(server.url, step_back=1, backoff=SOON)
            async with Taking(source, "0") as taking:
                await taking.until(lambda: "99" in taking.ids)
        assert taking.ids[:50] == [str(i) for i in range(50)]
        missed = {str(i) for i in range(100)} - set(taking.ids)
        assert all(
            any(gap.start <= START + timedelta(seconds=0.1 * int(i)) <= gap.end for gap in taking.gaps) for i in missed
        ), "what was jumped lies in a recorded gap"
        assert len(missed) <= 2
        assert source.health.bad["line over 10 MB"] >= 1

    run(test())


def test_reordered_and_repeated_frames_come_once() -> None:
    async def test() -> None:
        good = frames_of(posts(200))
        mixed = [frame for i in range(0, 200, 5) for frame in (*reversed(good[i : i + 5]), good[i])]
        server = JetstreamServer(mixed, breaks=lambda c: "reset" if c.sent >= 120 else None)
        # the server looks frames up by time, so each keeps the time of its place
        server.frames = [(good[min(i * 5 // 6, 199)][0], content) for i, (_, content) in enumerate(mixed)]
        async with server.running(), Taking(Jetstream(server.url, step_back=3, backoff=SOON), "0") as taking:
            await taking.until(lambda: len(taking.ids) >= 200)
            await asyncio.sleep(0.05)
        assert sorted(taking.ids, key=int) == [str(i) for i in range(200)]

    run(test())


def test_packed_frames_are_read_with_the_servers_dictionary(tmp_path: Path) -> None:
    samples = [content for _, content in frames_of(posts(400, lambda i: f"words of many kinds {i * 7919}"))]
    dictionary = zstandard.train_dictionary(4096, samples)
    (tmp_path / "dictionary").write_bytes(dictionary.as_bytes())

    async def test() -> None:
        pack = zstandard.ZstdCompressor(dict_data=dictionary).compress
        async with JetstreamServer(frames_of(posts(50)), pack=pack).running() as server:
            source = Jetstream(server.url, dictionary=tmp_path / "dictionary", backoff=SOON)
            async with Taking(source, "0") as taking:
                await taking.until(lambda: len(taking.ids) == 50)
        assert server.connections[0].query["compress"] == ["true"]
        assert not source.health.bad

    run(test())


def test_a_server_that_looks_back_less_far_leaves_a_recorded_gap() -> None:
    async def test() -> None:
        late = posts(10)
        asked = (START - timedelta(days=2) - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND
        server = JetstreamServer(frames_of(late))
        async with server.running(), Taking(Jetstream(server.url, backoff=SOON), str(asked)) as taking:
            await taking.until(lambda: len(taking.ids) == 10)
        [gap] = taking.gaps
        assert (gap.start, gap.end, gap.filled) == (START - timedelta(days=2), START, False)

    run(test())


def test_a_consumer_that_does_not_take_stops_the_server_from_sending() -> None:
    async def test() -> None:
        many = frames_of(posts(4_000, lambda i: "word " * 4_000))
        server = JetstreamServer(many)
        async with server.running(), aclosing(Jetstream(server.url, backoff=SOON).bursts("0")) as bursts:
            await anext(bursts)
            before = -1
            while before != (before := server.connections[0].sent):
                await asyncio.sleep(0.2)
            assert before < 4_000
            burst = await anext(bursts)
            assert sum(len(e.row.text) for e in burst.events if isinstance(e, Received)) < 17_000_000

    run(test())


def test_a_wrong_address_fails_with_advice_instead_of_for_ever() -> None:
    async def refuse(request: Request, reply: Reply) -> None:
        await reply.whole({"error": "no"}, 404)

    async def test() -> None:
        server = HttpServer(refuse)
        async with server.running(), Taking(Jetstream(server.url.replace("http", "ws"), backoff=SOON)) as taking:
            with pytest.raises(SourceError, match="404"):
                await taking.until(lambda: False)

    run(test())


# Keywords that change while a stream runs


class Watching(Taking):
    """Takes what a filter leaves."""

    def __init__(self, filtered: Filtered, cursor: str | None = None) -> None:
        self.filtered, self.cursor = filtered, cursor
        self.selected: list[object] = []

    async def _take(self) -> None:
        async with aclosing(self.filtered.bursts(self.cursor)) as bursts:
            async for selection in bursts:
                self.selected.extend(selection.events)
                self.cursor = selection.cursor

    @property
    def collected(self) -> list[Collected]:
        return [event for event in self.selected if isinstance(event, Collected)]


def test_swapping_keywords_on_a_running_stream_misses_no_matching_post() -> None:
    words = ["health", "drug", "mask", "virus", "vote"]

    async def test() -> None:
        stream = posts(3000, lambda i: f"about {words[i % 5]} and {words[(i * 7 + 1) % 5]}")
        server = JetstreamServer(frames_of(stream[:1]), breaks=lambda c: "reset" if c.sent >= 900 else None, burst=10)
        async with server.running():
            source = Jetstream(server.url, step_back=1, backoff=SOON)
            watched = Filtered(source, KeywordSet.of("health"), sample=0)
            async with Watching(watched, "0") as watching:
                for at in range(1, 3000, 100):
                    server.add(*frames_of(stream[at : at + 100]))
                    await asyncio.sleep(0.005)
                    await watched.update_keywords(KeywordSet.of(words[at // 100 % 5], words[(at // 100 + 2) % 5]))
                await watching.until(lambda: source.health.posts == 3000)
                await asyncio.sleep(0.05)
        changes = [(int(e.cursor or 0), e.keywords) for e in watching.selected if isinstance(e, KeywordsHeld)]
        assert len(changes) > 5
        times = [(post.time - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND for post in stream]
        expected = {}
        for post, moment in zip(stream, times, strict=True):
            now = [keywords for since, keywords in changes if since < moment][-1]
            carried = tuple(word for word in now.texts if word in post.text.split())
            if carried:
                expected[post.id] = carried
        got = {event.row.id.rpartition("/")[2]: event.keywords for event in watching.collected}
        assert got == expected
        assert len(got) == len(watching.collected), "and none is counted twice"

    run(test())


# Mastodon


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
            await server.send(b"event: update\ndata: " + b"x" * (live_http.MAX_LINE + 10))
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


# X


@pytest.fixture
def x_token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("X_BEARER_TOKEN", "secret")
    return "secret"


def x_stream(server: XServer, **options: Any) -> XStream:
    return XStream(server.http.url, backoff=SOON, **options)


async def listening(server: XServer, streams: int = 1) -> None:
    async with asyncio.timeout(5):
        while len(server.streams) != streams:
            await asyncio.sleep(0.005)


@pytest.mark.usefixtures("x_token")
def test_x_adds_new_rules_before_it_removes_old_ones_and_misses_no_post() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "foreign", "value": "cats", "tag": "somebody else's"}])
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(server.http.running())
            watched = Filtered(x_stream(server), KeywordSet.of("health"))
            watching = await stack.enter_async_context(Watching(watched))
            await listening(server)
            number, matched = 0, []

            async def post_for_ever() -> None:
                nonlocal number
                while True:
                    number += 1
                    if await server.post(tweet(number, f"health and mask {number}")):
                        matched.append(str(number))
                    await asyncio.sleep(0.001)

            posting = asyncio.ensure_future(post_for_ever())
            await asyncio.sleep(0.05)
            await watched.update_keywords(KeywordSet.of("mask"))
            await asyncio.sleep(0.05)
            posting.cancel()
            await asyncio.gather(posting, return_exceptions=True)
            await watching.until(lambda: len(watching.collected) >= len(matched))
        assert len(matched) == number, "at no moment did X have neither rule"
        assert [event.row.id for event in watching.collected] == matched
        assert all(event.keywords for event in watching.collected)
        assert server.changes == ["add health", "add mask", "delete health"]
        assert {rule["value"] for rule in server.rules} == {"cats", "mask"}

    run(test())


@pytest.mark.usefixtures("x_token")
def test_x_reconnects_backfills_and_records_the_gap() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "1", "value": "health", "tag": "klda: health"}])
        async with server.http.running(), Taking(source := x_stream(server, backfill_minutes=5)) as taking:
            await listening(server)
            await server.post(tweet(1, "health"))
            await taking.until(lambda: taking.ids)
            server.reset()
            await listening(server)
            await server.post(tweet(1, "health"))
            await server.post(tweet(2, "health"))
            await taking.until(lambda: len(taking.ids) == 2)
            [filled] = taking.gaps
            await server.streams[0].half_chunk(orjson.dumps(tweet(3, "health " * 100)))
            server.streams.clear()
            await listening(server)
            await taking.until(lambda: len(taking.gaps) == 2)
            await server.post(tweet(4, "health"))
            await taking.until(lambda: len(taking.ids) == 3)
        assert taking.ids == ["1", "2", "4"]
        assert filled.filled
        streams = [request for request in server.http.requests if not request.path.endswith("/rules")]
        assert "backfill_minutes" not in streams[0].query
        assert streams[1].query["backfill_minutes"] == ["1"]
        assert source.health.duplicates == 1

    run(test())


@pytest.mark.usefixtures("x_token")
def test_x_without_backfill_leaves_the_gap_open() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "1", "value": "health", "tag": "klda: health"}])
        before = datetime.now(UTC) - timedelta(hours=1)
        cursor = str(int(before.timestamp() * 1e6))
        async with server.http.running(), Taking(x_stream(server), cursor) as taking:
            await taking.until(lambda: taking.gaps)
        [gap] = taking.gaps
        assert abs(gap.start - before) < timedelta(seconds=1)
        assert not gap.filled

    run(test())


@pytest.mark.usefixtures("x_token")
def test_x_waits_as_long_as_a_429_says_and_survives_5xx() -> None:
    async def test() -> None:
        reset = str(datetime.now(UTC).timestamp() + 0.3)
        server = XServer(
            refuse=[(429, {"x_rate_limit_reset": reset}), (503, {})], refuse_rules=[(429, {"retry_after": "0.01"})]
        )
        async with server.http.running():
            source = x_stream(server)
            await source.update_keywords(KeywordSet.of("health"))
            async with Taking(source) as taking:
                await listening(server)
                waited = datetime.now(UTC).timestamp()
                await server.post(tweet(1, "health"))
                await taking.until(lambda: taking.ids)
        assert waited >= float(reset)

    run(test())


@pytest.mark.usefixtures("x_token")
def test_x_gives_a_silent_connection_up() -> None:
    async def test() -> None:
        server = XServer()
        async with server.http.running(), Taking(source := x_stream(server, stall=0.1)) as taking:
            await listening(server)
            await taking.until(lambda: source.health.reconnects >= 2)
            assert taking.gaps
            assert taking.cursor is not None

    run(test())


@pytest.mark.usefixtures("x_token")
def test_x_counts_hostile_lines_and_goes_on() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "1", "value": "health", "tag": "klda: health"}])
        async with server.http.running(), Taking(source := x_stream(server)) as taking:
            await listening(server)
            hostile = [b"{", b"\xff", b"17", b'{"data": [1, {}]}', b"[" * 5000, b'{"errors": [{"title": "x"}]}']
            await server.send(b"\r\n".join(hostile) + b"\r\n")
            for piece in (b"x" * live_http.MAX_LINE, b"x" * 100, b"\r\n", orjson.dumps(tweet(1, "health"))[:50]):
                await server.send(piece)
            await server.send(orjson.dumps(tweet(1, "health"))[50:] + b"\r\n")
            await taking.until(lambda: taking.ids)
        assert taking.ids == ["1"]
        assert sum(source.health.bad.values()) == 7
        assert source.health.reconnects == 0

    run(test())


def test_x_without_a_token_says_which_variable_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("X_BEARER_TOKEN", raising=False)
    with pytest.raises(SettingError, match="X_BEARER_TOKEN"):
        run(XStream("http://127.0.0.1:1", backoff=SOON).update_keywords(KeywordSet.of("health")))


def test_a_token_is_neither_shown_nor_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_BEARER_TOKEN", "wrong-and-secret")
    source = XStream("http://127.0.0.1:1", backoff=SOON)
    assert "wrong-and-secret" not in repr(vars(source))

    async def test() -> None:
        server = XServer()
        async with server.http.running():
            source = x_stream(server)
            with pytest.raises(KldaError) as caught:
                await source.update_keywords(KeywordSet.of("health"))
            assert "wrong-and-secret" not in f"{caught.value!r} {caught.value.__cause__!r}"

    run(test())
