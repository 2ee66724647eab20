"""What flows in: volume over time by keyword, and what each keyword brings that no other does; from counts alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from klda.monitor.failure import failure
from klda.monitor.monitor import Monitor
from klda.monitor.replay_clock import horizon
from klda.store import VolumePoint
from klda.store.delta.rows import ALL
from klda.store.sql.volume_records import Period
from klda.types import Estimate, Window

SPANS = {"window": 26, "day": 31, "hour": 48}
"""How many windows, days and hours are shown."""


@dataclass(frozen=True)
class FlowPoint:
    """Posts of a keyword in one window, day or hour."""

    start: datetime
    keyword: str
    posts: int
    """Posts that carry it."""
    share: float
    """Its part of all posts: a post with several keywords is divided among them, so that parts add up to the whole."""


@dataclass(frozen=True)
class KeywordYield:
    """What an active keyword brings."""

    keyword: str
    forms: tuple[str, ...]
    since: datetime
    reason: str
    posts: int
    """In the newest window, so far."""
    alone: int
    """Those that no other keyword would have brought."""
    before: int
    """In the window before it."""
    expected: Estimate | None
    """What was expected of it in the newest window."""

    @property
    def overlap(self) -> float | None:
        """The share of its posts that another keyword brings, too; None where it brings none."""
        return 1 - self.alone / self.posts if self.posts else None


@dataclass(frozen=True)
class Now:
    """The newest window, as far as it has come."""

    window: Window | None
    posts: int
    """In this window."""
    total: int
    """In all windows."""
    running: bool
    failure: str | None
    """Why collecting ended, where it failed and was not begun again."""


def now(monitor: Monitor) -> Now:
    """How many posts there are by now."""
    windows, until = monitor.records.volume.series("window", keywords=[ALL]), horizon(monitor)
    newest = next((point for point in reversed(windows) if point.start < until), None)
    return Now(
        monitor.windowing.holding(newest.start) if newest else None,
        newest.posts if newest else 0,
        sum(point.posts for point in windows),
        monitor.folder.being_written,
        failure(monitor.folder),
    )


def flow(monitor: Monitor, period: Period) -> list[FlowPoint]:
    """Volume by keyword, in order of time: the newest windows, days or hours that `SPANS` says."""
    volume = monitor.records.volume
    until = horizon(monitor)
    newest = volume.newest(period, until)
    if newest is None:
        return []
    return divided(volume.series(period, _since(monitor, newest, period), until))


def divided(points: list[VolumePoint]) -> list[FlowPoint]:
    """The points of each keyword, with posts that carry several divided among these in proportion.

    >>> at = datetime(2026, 1, 5)
    >>> divided([VolumePoint(at, "", 10, 0), VolumePoint(at, "a", 8, 6), VolumePoint(at, "b", 4, 2)])[0].share
    7.0
    """
    times: dict[datetime, list[VolumePoint]] = defaultdict(list)
    totals: dict[datetime, int] = {}
    for point in points:
        if point.keyword == ALL:
            totals[point.start] = point.posts
        else:
            times[point.start].append(point)
    found = []
    for start, own in times.items():
        several = totals.get(start, 0) - sum(point.alone for point in own)
        claims = sum(point.posts - point.alone for point in own)
        each = several / claims if claims else 0.0
        found += [FlowPoint(start, p.keyword, p.posts, p.alone + each * (p.posts - p.alone)) for p in own]
    return found


def yields(monitor: Monitor) -> list[KeywordYield]:
    """What each active keyword brings, in the order of the list; exclusions bring nothing."""
    records = monitor.records
    until = horizon(monitor)
    newest = records.volume.newest("window", until)
    spans = {span.keyword.text: span for span in records.keywords.spans() if span.ended is None}
    spans = {text: span for text, span in spans.items() if not span.keyword.excludes}
    here: dict[str, VolumePoint] = {}
    before: dict[str, VolumePoint] = {}
    expected: dict[str, Estimate] = {}
    if newest is not None:
        earlier = monitor.windowing.holding(newest - timedelta(microseconds=1)).start
        for point in records.volume.series("window", earlier, until, keywords=list(spans)):
            (here if point.start == newest else before)[point.keyword] = point
        expected = {outcome.keyword: outcome.expected for outcome in records.keywords.outcomes(newest)}
    return [
        KeywordYield(
            text,
            span.keyword.forms,
            span.started,
            span.reason,
            here[text].posts if text in here else 0,
            here[text].alone if text in here else 0,
            before[text].posts if text in before else 0,
            expected.get(text),
        )
        for text, span in spans.items()
    ]


def _since(monitor: Monitor, newest: datetime, period: Period) -> datetime:
    steps = SPANS[period] - 1
    if period == "window":
        return newest - steps * monitor.windowing.holding(newest).length
    return newest - steps * (timedelta(days=1) if period == "day" else timedelta(hours=1))
