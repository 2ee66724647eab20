"""Connecting again: at once after a session that was worth it, later after others, and as late as the server asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace

import pytest

from klda.streams import Health
from klda.streams.connections import MAX_WAIT, Backoff, Busy, reconnecting
from tests.integration.taking import run, watched_waits

DOUBLING = Backoff(first=0.001, longest=1000.0, jitter=0.0)


def waited(session: Callable[[int], int], sessions: int, backoff: Backoff = DOUBLING) -> list[float]:
    """The waits between so many sessions; each is told its number, and returns how many events it brought, or fails."""
    numbers, brought, over = count(1), 0, asyncio.Event()

    async def one() -> None:
        nonlocal brought
        number = next(numbers)
        if number > sessions:
            over.set()
            await asyncio.Event().wait()
        brought += session(number)

    async def test() -> None:
        trying = asyncio.ensure_future(reconnecting(one, (OSError,), Health(), backoff, lambda: brought))
        while not over.is_set() and not (waits and waits[-1] > 1):
            await asyncio.sleep(0.001)
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)

    with watched_waits() as waits:
        run(test())
    return waits


def test_a_session_that_brought_something_is_followed_by_the_next_at_once() -> None:
    assert waited(lambda _: 1, 20) == []


def test_sessions_that_brought_nothing_are_further_and_further_apart_until_one_does() -> None:
    waits = waited(lambda number: int(number == 3), 5)
    assert waits == pytest.approx([0.001, 0.002, 0.001, 0.002])


def test_a_session_that_lasted_as_long_as_the_longest_wait_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    hours: Iterator[float] = count(0.0, 3600.0)
    monkeypatch.setattr("klda.streams.connections.time", SimpleNamespace(monotonic=lambda: next(hours)))
    assert waited(lambda _: 0, 5) == []


@pytest.mark.parametrize(
    ("asked", "wait"), [(600.0, 600.0), (1e9, MAX_WAIT), (-5.0, 2.0), (0.0, 2.0), (float("nan"), 2.0)]
)
def test_a_wait_that_the_server_asks_for_is_kept_also_by_a_session_that_brought_something(
    asked: float, wait: float
) -> None:
    brought = 0

    async def session() -> None:
        nonlocal brought
        brought += 1
        raise Busy("not now", asked)

    async def test() -> None:
        trying = asyncio.ensure_future(
            reconnecting(session, (), Health(), Backoff(first=2.0, longest=60.0), lambda: brought)
        )
        while not waits:
            await asyncio.sleep(0.001)
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)

    with watched_waits() as waits:
        run(test())
    assert waits == [wait]
