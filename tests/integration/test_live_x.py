"""X against a real server on loopback: nothing lost, nothing twice, whatever breaks."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from klda.errors import KldaError, SettingError
from klda.posts.formats.outcome import CONTROL
from klda.streams import Deleted, Filtered, connections
from klda.streams.x_stream import XStream
from klda.types import KeywordSet
from tests.integration.taking import SOON, Taking, Watching, run
from tests.servers.x import XServer, tweet


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
def test_monitors_that_share_an_account_leave_each_other_s_rules_alone() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "unnamed", "value": "dogs", "tag": "klda: dogs"}])
        async with server.http.running():
            one, other = x_stream(server, owner="one"), x_stream(server, owner="one-more")
            await one.update_keywords(KeywordSet.of("health"))
            await other.update_keywords(KeywordSet.of("mask"))
            await one.update_keywords(KeywordSet.of("doctor"))
            assert {rule["value"]: rule["tag"] for rule in server.rules} == {
                "dogs": "klda: dogs",
                "mask": "klda one-more: mask",
                "doctor": "klda one: doctor",
            }
            await x_stream(server).update_keywords(KeywordSet.of("cats"))
            assert {rule["value"] for rule in server.rules} == {"mask", "doctor", "cats"}

    run(test())


@pytest.mark.usefixtures("x_token")
def test_a_rule_that_another_monitor_could_take_away_is_not_relied_on() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "by hand", "value": "dogs", "tag": "somebody else's"}])
        async with server.http.running():
            await x_stream(server, owner="one").update_keywords(KeywordSet.of("health"))
            with pytest.raises(SettingError, match="monitor one has the same rule on this account"):
                await x_stream(server, owner="other").update_keywords(KeywordSet.of("health"))
            await x_stream(server, owner="other").update_keywords(KeywordSet.of("dogs"))
        assert server.changes == ["add health"]

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
def test_x_is_connected_to_again_after_the_clock_was_set_back() -> None:
    async def test() -> None:
        server = XServer()
        later = datetime.now(UTC) + timedelta(hours=1)
        cursor = str(int(later.timestamp() * 1e6))
        async with server.http.running(), Taking(x_stream(server, backfill_minutes=5), cursor) as taking:
            await taking.until(lambda: taking.gaps)
        [request] = server.http.requests
        assert "backfill_minutes" not in request.query, "X refuses to look back less than nothing"
        [gap] = taking.gaps
        assert gap.start == gap.end < later
        assert not gap.filled, "how long it was, nobody knows"

    run(test())


@pytest.mark.usefixtures("x_token")
def test_an_edited_post_of_x_takes_back_its_earlier_versions_and_no_later_one() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "1", "value": "health", "tag": "klda: health"}])
        async with server.http.running(), Taking(x_stream(server)) as taking:
            await listening(server)
            await server.post(tweet(7, "health", edit_history_tweet_ids=["7"]))
            await server.post(tweet(9, "health again", edit_history_tweet_ids=["7", "8", "9"]))
            await server.post(tweet(8, "health late", edit_history_tweet_ids=["7", "8", "9", None, "x", {}]))
            await server.post(tweet(10, "health", edit_history_tweet_ids="10"))
            await taking.until(lambda: len(taking.ids) == 4)
        assert taking.ids == ["7", "9", "8", "10"]
        assert [event.id for event in taking.events if isinstance(event, Deleted)] == ["7", "8"]

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
def test_x_that_says_it_will_disconnect_is_connected_to_again_and_the_time_between_recorded() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "1", "value": "health", "tag": "klda: health"}])
        async with server.http.running(), Taking(source := x_stream(server)) as taking:
            await listening(server)
            reason = {"title": "operational-disconnect", "disconnect_type": "UpstreamOperationalDisconnect"}
            await server.send(orjson.dumps({"errors": [reason]}) + b"\r\n")
            await taking.until(lambda: source.health.skipped[CONTROL] == 1)
            server.reset()
            await listening(server)
            await server.post(tweet(1, "health"))
            await taking.until(lambda: taking.ids)
        assert taking.ids == ["1"]
        [gap] = taking.gaps
        assert gap.start <= gap.end
        assert not gap.filled
        assert source.health.reconnects == 1
        assert not source.health.bad

    run(test())


@pytest.mark.usefixtures("x_token")
def test_x_counts_hostile_lines_and_goes_on() -> None:
    async def test() -> None:
        server = XServer(rules=[{"id": "1", "value": "health", "tag": "klda: health"}])
        async with server.http.running(), Taking(source := x_stream(server)) as taking:
            await listening(server)
            hostile = [b"{", b"\xff", b"17", b'{"data": [1, {}]}', b"[" * 5000, b'{"errors": [{"title": "x"}]}']
            await server.send(b"\r\n".join(hostile) + b"\r\n")
            for piece in (b"x" * connections.MAX_LINE, b"x" * 100, b"\r\n", orjson.dumps(tweet(1, "health"))[:50]):
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
