"""Runs a monitor: collects, closes windows, proposes, approves or waits, and updates the filter.

A live stream is collected while a proposal is made, and its windows end by the clock. A replay pauses meanwhile, and
its windows end by the times of its posts. If a person has to approve, the replay waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from klda.errors import KldaError, Stopped, StoreError
from klda.monitor.calendar import ByEventTime, close, closed, note_end, note_reached
from klda.monitor.collect import ABANDONED, Collector, Counts
from klda.monitor.decide import activate_pending, approve_automatically
from klda.monitor.monitor import Monitor
from klda.monitor.propose import propose
from klda.monitor.window_topics import learn_topics
from klda.types import KeywordSet, Progress, Window, silent

CHECK = 1.0
"""Seconds between two checks for a decision."""
AGAIN = timedelta(hours=1)
"""A failed turn of a live stream is repeated after this time. It may be much work, and fail again."""

Tell = Callable[[str], None]


async def run(
    monitor: Monitor, stop: asyncio.Event, *, progress: Progress = silent, tell: Tell = lambda _: None
) -> Counts:
    """The numbers of a run until `stop` is set or a replay ends. No other process may write meanwhile."""
    with monitor.folder.writer():
        monitor.records.jobs.abandon(ABANDONED)
        activate_pending(monitor)
        tell_waiting(monitor, tell)
        source = monitor.source()
        if monitor.settings.by_event_time:
            return await _replayed(monitor, ByEventTime(source, monitor.windowing), stop, progress, tell)
        return await _live(monitor, Collector(monitor, source, progress=progress), stop, progress, tell)


async def _replayed(
    monitor: Monitor, source: ByEventTime, stop: asyncio.Event, progress: Progress, tell: Tell
) -> Counts:
    collector = Collector(monitor, source, progress=progress)
    window: Window | None = None

    async def turn_to(time: datetime) -> None:
        await collector.flush()
        await _turn(monitor, time, stop, progress, tell)
        while _waits(monitor) and not stop.is_set():
            await asyncio.sleep(CHECK)
        await collector.follow()

    async def between() -> None:
        nonlocal window
        if source.window is not None and source.window != window:
            await turn_to(source.window.start)
            window = source.window
            await asyncio.to_thread(note_reached, monitor, window)

    counts = await collector.run(stop, between)
    if counts.ended:
        await turn_to(monitor.clock())  # nothing more will come, so the clock says which windows are over
        note_end(monitor)
    return counts


async def _live(monitor: Monitor, collector: Collector, stop: asyncio.Event, progress: Progress, tell: Tell) -> Counts:
    turning: asyncio.Task[None] | None = None
    due: datetime | None = None

    async def beside(now: datetime, end: datetime) -> None:
        """`_turn`. If it fails, collecting continues: memory may have run out, or the database be unreachable."""
        nonlocal due
        try:
            await _turn(monitor, now, stop, progress, tell)
        except Exception as error:
            due, reason = min(end, monitor.clock() + AGAIN), str(error) or type(error).__name__
            tell(f"no proposal; the next attempt is at {due:%Y-%m-%d %H:%M}: {reason}")
            with suppress(KldaError):  # the database itself may be unreachable
                await asyncio.to_thread(monitor.records.journal.note, "klda", "turn failed", reason=reason)

    async def between() -> None:
        nonlocal turning, due
        now = monitor.clock()
        if turning is not None and turning.done():
            turning.result()
            turning = None
        if turning is None and (due is None or now >= due):
            await collector.flush()
            due = monitor.windowing.holding(now).end
            turning = asyncio.create_task(beside(now, due))

    try:
        return await collector.run(stop, between)
    finally:
        stop.set()
        if turning is not None:
            await turning


async def _turn(monitor: Monitor, time: datetime, stop: asyncio.Event, progress: Progress, tell: Tell) -> None:
    """`turn` in a thread. A request to stop ends it at its next progress report."""

    def watched(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        if stop.is_set():
            raise Stopped("the monitor is stopped")
        progress(stage, done, total, **facts)

    try:
        await asyncio.to_thread(turn, monitor, time, progress=watched, tell=tell)
    except Stopped:
        tell("stopped before the proposal was made; the next run makes it")


def turn(monitor: Monitor, time: datetime, *, progress: Progress = silent, tell: Tell = lambda _: None) -> None:
    """Closes the windows that ended before a time, proposes from the last one, and approves if that is automatic."""
    for window in close(monitor, time):
        tell(f"window {window} closed")
        _topics(monitor, window, progress)
    windows = closed(monitor)
    if not windows or _proposed(monitor, windows[-1]):
        return
    if len(windows) == 1:  # every monitor begins like this: nothing failed
        tell("no proposal yet: the first one needs two closed windows")
        return
    try:
        made = propose(monitor, windows[-1], progress=progress)
    except (StoreError, Stopped):
        raise
    except KldaError as error:  # collecting continues without a proposal
        monitor.records.journal.note("klda", "no proposal", str(windows[-1]), reason=str(error))
        tell(f"no proposal: {error}")
        return
    tell(f"proposal {made.id}: add {_names(made.proposal.add)}; drop {_names(made.proposal.drop)}")
    for flag in made.flags:
        tell(f"flagged: {flag}")
    decision = approve_automatically(monitor)
    if decision is None:
        tell_waiting(monitor, tell)
    elif decision.verdict == "edit":
        tell(f"approved automatically, except what is flagged; {decision.note}")
    else:
        tell("approved automatically")


def tell_waiting(monitor: Monitor, tell: Tell) -> None:
    """Tells that a proposal waits for a person, and which commands to type. Tells nothing if none waits."""
    waiting = monitor.records.proposals.waiting_id()
    if waiting is None:
        return
    name, flags = waiting
    why = "is flagged and waits" if flags else "waits"
    stands = monitor.settings.by_event_time and monitor.settings.approval == "manual"
    meanwhile = "The replay waits until then." if stands else "Collecting continues with the current keywords."
    tell(f"Proposal {name} {why} for your approval. {meanwhile}")
    tell(f"  to see it:     klda monitor show {monitor.name}")
    tell(f"  to approve it: klda monitor approve {monitor.name} {name}")


def _topics(monitor: Monitor, window: Window, progress: Progress) -> None:
    """Learns the topics of a window, for the pages. The loop continues if that fails."""
    try:
        learn_topics(monitor, window, progress=progress)
    except (StoreError, Stopped):
        raise
    except KldaError as error:
        monitor.records.journal.note("klda", "no topics", str(window), reason=str(error))


def _proposed(monitor: Monitor, window: Window) -> bool:
    """Whether a proposal from this window was made."""
    wanted = window.end.isoformat()
    return any(saved.proposal.window == wanted for saved in monitor.records.proposals.newest(10))


def _waits(monitor: Monitor) -> bool:
    """Whether a person has to decide before a replay continues."""
    return monitor.settings.approval == "manual" and monitor.records.proposals.waiting() is not None


def _names(keywords: KeywordSet) -> str:
    return ", ".join(keywords.texts) or "nothing"
