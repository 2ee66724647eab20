"""The state of monitors and the volume of their keywords, from counts alone: no post is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from klda.errors import KldaError
from klda.monitor.calendar import closed, horizon
from klda.monitor.collect import failure
from klda.monitor.monitor import Monitor, opened
from klda.monitor.rules import refusal
from klda.store import MonitorFolder, VolumePoint, list_monitors
from klda.store.delta.rows import ALL
from klda.store.sql.volume_records import Period
from klda.types import Estimate, Window

T = TypeVar("T")

SPANS = {"window": 26, "day": 31, "hour": 48}
"""How many windows, days and hours are shown."""


@dataclass(frozen=True)
class Overview:
    """The state of a monitor."""

    name: str
    subject: str
    source: str
    policy: str
    approval: str
    zone: str
    """Time zone in which its windows of days begin."""
    keywords: tuple[str, ...]
    running: bool
    """Whether a process is collecting now."""
    failure: str | None
    """Why collecting failed, if it has not been started again."""
    posts: int
    sample: int
    windows: tuple[dict[str, Any], ...]
    """The latest windows: start, number of posts, and whether the window is closed."""
    waiting: str | None
    """The proposal that waits for a decision."""
    flags: tuple[str, ...]
    gaps: int
    refused: str | None
    """Why the source does not use the active keywords but the list before. None if it uses them."""
    models: tuple[dict[str, Any], ...]
    """The saved models, newest first."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Unreadable:
    """A monitor that cannot be opened or read now."""

    name: str
    unreadable: str
    """The reason, and what to do."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def overview(monitor: Monitor, windows: int = 12) -> Overview:
    """The state of a monitor, with its latest windows."""
    records, settings = monitor.records, monitor.settings
    ended = {window.start for window in closed(monitor)}
    volume = records.volume.series("window", keywords=[""])[-windows:]
    waiting = records.proposals.waiting_id()
    return Overview(
        name=monitor.name,
        subject=settings.subject,
        source=settings.source["kind"],
        policy=settings.policy,
        approval=settings.approval,
        zone=settings.zone,
        keywords=records.keywords.active().texts,
        running=monitor.folder.being_written,
        failure=failure(monitor.folder),
        posts=records.volume.total(),
        sample=records.volume.total(sample=True),
        windows=tuple(
            {"start": point.start.isoformat(), "posts": point.posts, "closed": point.start in ended} for point in volume
        ),
        waiting=waiting[0] if waiting else None,
        flags=waiting[1] if waiting else (),
        gaps=len(records.journal.gaps()),
        refused=refusal(monitor),
        models=tuple(model.to_dict() for model in records.journal.models()),
    )


def overviews(home: Path) -> list[Overview | Unreadable]:
    """The state of every monitor in a home folder, by name."""

    def look(folder: MonitorFolder) -> Overview:
        with opened(home, folder.name) as monitor:
            return overview(monitor)

    return each(home, look)


def each(home: Path, look: Callable[[MonitorFolder], T]) -> list[T | Unreadable]:
    """The result of `look` for each monitor in a home folder, by name.

    One that cannot be read does not hide the others.
    """
    found: list[T | Unreadable] = []
    for folder in list_monitors(home):
        try:
            found.append(look(folder))
        except (KldaError, OSError) as error:
            found.append(Unreadable(folder.name, str(error)))
    return found


@dataclass(frozen=True)
class FlowPoint:
    """Posts of a keyword in one window, day or hour."""

    start: datetime
    keyword: str
    posts: int
    """Posts with the keyword."""
    share: float
    """Its part of all posts. A post with several keywords is divided among them, so the parts add up to the total."""


@dataclass(frozen=True)
class KeywordYield:
    """The posts that an active keyword brings."""

    keyword: str
    forms: tuple[str, ...]
    since: datetime
    reason: str
    posts: int
    """In the newest window, so far."""
    alone: int
    """Posts that no other keyword would have brought."""
    before: int
    """In the window before."""
    expected: Estimate | None
    """Expected posts in the newest window."""

    @property
    def overlap(self) -> float | None:
        """The share of its posts that another keyword brings too. None if it brings no posts."""
        return 1 - self.alone / self.posts if self.posts else None


@dataclass(frozen=True)
class Now:
    """The newest window, so far."""

    window: Window | None
    posts: int
    """In this window."""
    total: int
    """In all windows."""
    running: bool
    failure: str | None
    """Why collecting failed, if it has not been started again."""


def now(monitor: Monitor) -> Now:
    """The number of posts in the newest window and in all."""
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
    """Volume by keyword, in order of time, for the newest windows, days or hours (`SPANS`)."""
    volume = monitor.records.volume
    until = horizon(monitor)
    newest = volume.newest(period, until)
    if newest is None:
        return []
    return divided(volume.series(period, _since(monitor, newest, period), until))


def divided(points: list[VolumePoint]) -> list[FlowPoint]:
    """The points of each keyword. Posts with several keywords are divided among these in proportion.

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
    """The posts that each active keyword brings, in the order of the list. Exclusions are left out."""
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
