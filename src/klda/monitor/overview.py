"""What monitors are doing, at a glance: from the records alone, without reading a post."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from klda.errors import KldaError
from klda.monitor.close import closed
from klda.monitor.failure import failure
from klda.monitor.filter_sync import refusal
from klda.monitor.monitor import Monitor, opened
from klda.store import MonitorFolder, list_monitors

T = TypeVar("T")


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
    """Whether a process is writing now."""
    failure: str | None
    """Why collecting ended, where it failed and was not begun again."""
    posts: int
    sample: int
    windows: tuple[dict[str, Any], ...]
    """The latest windows: when each starts, how many posts it brought, whether it has closed."""
    waiting: str | None
    """The proposal that waits for a decision."""
    flags: tuple[str, ...]
    gaps: int
    refused: str | None
    """Why the source does not follow the keywords, but those before; None where it does."""
    models: tuple[dict[str, Any], ...]
    """The models that are kept, newest first."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Unreadable:
    """A monitor that cannot be opened or read now."""

    name: str
    unreadable: str
    """Why, and what to do."""

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
    """The state of every monitor of a home, by name."""

    def look(folder: MonitorFolder) -> Overview:
        with opened(home, folder.name) as monitor:
            return overview(monitor)

    return each(home, look)


def each(home: Path, look: Callable[[MonitorFolder], T]) -> list[T | Unreadable]:
    """What a look at each monitor of a home finds, by name; one that cannot be read does not hide the others."""
    found: list[T | Unreadable] = []
    for folder in list_monitors(home):
        try:
            found.append(look(folder))
        except (KldaError, OSError) as error:
            found.append(Unreadable(folder.name, str(error)))
    return found
