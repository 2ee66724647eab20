"""Connecting again, for as long as it takes: back-off with jitter, and the wait that a server asks for."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import stamina

from klda.streams.protocol import Health

MAX_WAIT = 900.0
"""The longest wait that a server may ask for, in seconds: the length of X's rate windows."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between attempts: the first wait, doubled every time up to the longest, and at most so much at random."""

    first: float = 0.5
    longest: float = 60.0
    jitter: float = 1.0


class Busy(Exception):
    """The server is there and says: not now."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


async def reconnecting(
    session: Callable[[], Awaitable[None]],
    transient: tuple[type[Exception], ...],
    health: Health,
    backoff: Backoff,
    brought: Callable[[], int],
) -> None:
    """Runs sessions one after another, until one fails for good.

    brought: how many events these sessions, and no others of the source, have brought so far. One that brought
    something new, or lasted as long as the longest wait, is followed by the next at once; any other counts as a failed
    attempt, so that a server that takes every connection and drops it is not run against in a tight loop. A wait that
    the server asks for is kept in any case.
    """

    transient = (Busy, *transient)

    async def attempt_one() -> None:
        before, began = brought(), time.monotonic()
        ended: Exception = Busy("the server ended the stream")
        try:
            await session()
        except transient as error:
            ended = error
        health.reconnects += 1
        asked = isinstance(ended, Busy) and ended.wait is not None
        if asked or (brought() == before and time.monotonic() - began < backoff.longest):
            raise ended

    while True:
        await retried(attempt_one, transient, backoff, attempts=None)


async def retried(
    call: Callable[[], Awaitable[None]],
    transient: tuple[type[Exception], ...],
    backoff: Backoff,
    attempts: int | None = 5,
) -> None:
    """Calls until it succeeds, or fails for good, or has failed too often."""

    def again(error: Exception) -> bool | float:
        if isinstance(error, Busy) and error.wait is not None:
            return min(max(backoff.first, error.wait), MAX_WAIT)  # servers' clocks differ: it may lie in the past
        return isinstance(error, (Busy, *transient))

    async for attempt in stamina.retry_context(
        on=again,
        attempts=attempts,
        timeout=None,
        wait_initial=backoff.first,
        wait_max=backoff.longest,
        wait_jitter=backoff.jitter,
    ):
        with attempt:
            await call()
