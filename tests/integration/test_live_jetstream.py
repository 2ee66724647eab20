"""Jetstream against a real server on loopback: nothing lost, nothing twice, whatever breaks."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from klda.errors import SourceError
from klda.streams import Deleted, Filtered, KeywordsHeld, Received
from klda.streams.jetstream import MAX_FRAME, Jetstream
from klda.types import KeywordSet
from tests.integration.taking import MICROSECOND, SOON, START, Taking, Watching, posts, run, watched_waits
from tests.servers.http import HttpServer, Reply, Request
from tests.servers.jetstream import JetstreamServer, account, deletion, frame, frames_of


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


@pytest.mark.parametrize("version", [1, 2])
def test_jetstream_tells_of_accounts_that_are_gone_and_of_no_others(version: Any) -> None:
    async def test() -> None:
        moment = frames_of(posts(1))[0][0]
        states = ["active", "deactivated", "deleted", "suspended", "takendown"]
        frames = [(moment + i, account(f"did:plc:{s}", s, moment + i, version)) for i, s in enumerate(states)]
        source = JetstreamServer(frames)
        async with source.running() as server, Taking(Jetstream(server.url, version=version), "0") as taking:
            await taking.until(lambda: len(taking.events) == 2)
        assert taking.events == [Deleted("did:plc:deleted", author=True), Deleted("did:plc:takendown", author=True)]

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


@pytest.mark.parametrize("date", [False, True])
def test_a_busy_server_is_left_alone_for_as_long_as_it_asks(date: bool) -> None:
    async def refuse(request: Request, reply: Reply) -> None:
        until = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
        await reply.whole({"error": "busy"}, 503, retry_after=until if date else "99")

    async def test() -> None:
        server = HttpServer(refuse)
        async with server.running(), Taking(Jetstream(server.url.replace("http", "ws"), backoff=SOON)) as taking:
            await taking.until(lambda: waits)

    with watched_waits() as waits:
        run(test())
    assert 98 < waits[0] <= 100


# Keywords that change while a stream runs


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
