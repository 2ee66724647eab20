"""Writes the posts of a monitor to a file: of one window or of all, collected or sampled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from klda.errors import DataError, SettingError
from klda.monitor.monitor import Monitor
from klda.store import export as write
from klda.store.delta.stored_posts import Writer
from klda.types import Window


def export(
    monitor: Monitor,
    path: Path,
    window: Window | None = None,
    *,
    sample: bool = False,
    others: Mapping[str, Writer] | None = None,
) -> int:
    """The number of posts written to a `.parquet` or `.jsonl` file. Without posts there is an error, and no file.

    others: writers for further endings.
    """
    posts = monitor.posts().read(window, sample=sample)
    if not len(posts):
        what = "sample" if sample else "posts"
        raise DataError(f"monitor {monitor.name} has no {what} of {window or 'any window'}; see `klda monitor show`")
    return write(posts, path, others)


def window_at(monitor: Monitor, day: str) -> Window:
    """The window that contains a day or a time, such as 2026-01-05 or 2026-01-05T12:00, in the monitor's time zone."""
    try:
        time = datetime.fromisoformat(day)
    except ValueError as error:
        raise SettingError(f"{day!r} is not a day or time; write 2026-01-05 or 2026-01-05T12:00") from error
    local = time if time.tzinfo else time.replace(tzinfo=ZoneInfo(monitor.settings.zone))
    return monitor.windowing.holding(local.astimezone(UTC))
