"""Posts of a monitor as a file: of one window or of all, collected or sampled."""

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
    """How many posts were written, as `.parquet` or `.jsonl`; none is an error, and leaves no file.

    `others` write files with further endings.
    """
    posts = monitor.posts().read(window, sample=sample)
    if not len(posts):
        what = "sample" if sample else "posts"
        raise DataError(f"monitor {monitor.name} has no {what} of {window or 'any window'}; see `klda monitor show`")
    return write(posts, path, others)


def window_at(monitor: Monitor, day: str) -> Window:
    """The window that holds a day or a time, as in 2026-01-05 or 2026-01-05T12:00; by the monitor's time zone."""
    try:
        time = datetime.fromisoformat(day)
    except ValueError as error:
        raise SettingError(f"{day!r} is no day or time; write it as in 2026-01-05 or 2026-01-05T12:00") from error
    local = time if time.tzinfo else time.replace(tzinfo=ZoneInfo(monitor.settings.zone))
    return monitor.windowing.holding(local.astimezone(UTC))
