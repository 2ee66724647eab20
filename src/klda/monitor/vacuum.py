"""Forgetting: posts deleted at their source, windows past their retention, and the files that still hold them.

A collector does this every day by itself; then nothing that was deleted outlives seven days, in the table's history
either.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from klda.monitor.backtest import sweep_backtests
from klda.monitor.model_files import drop_models, sweep_models
from klda.monitor.monitor import Monitor
from klda.monitor.replay_clock import today
from klda.monitor.reports import withdraw_reports
from klda.store import PostStore
from klda.store.delta.post_store import GRACE
from klda.text.windows import parse_length
from klda.types import Window

ACTION = "vacuum"
EVERY = timedelta(days=1)


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten."""

    posts: int
    """Deleted at their source."""
    windows: tuple[Window, ...]
    """Past their retention."""
    files: int


def vacuum(monitor: Monitor, older_than: str | None = None, *, grace: timedelta = GRACE) -> Forgotten:
    """Forgets now, as the one writer; windows that ended `older_than` ago go (as the settings say, unless given)."""
    with monitor.folder.writer():
        return forget(monitor, monitor.posts(), older_than, grace=grace)


def forget(monitor: Monitor, store: PostStore, older_than: str | None = None, *, grace: timedelta = GRACE) -> Forgotten:
    """`vacuum`, for whoever is the one writer already."""
    records, retention = monitor.records, older_than or monitor.settings.retention
    deleted = records.deletions.carry_out(store)
    expired: list[Window] = []
    if retention is not None:
        before = today(monitor) - parse_length(retention)
        expired = store.expire(before)
        _drop_upload(monitor, monitor.clock() - parse_length(retention))  # known by when it came, not by its posts
        _withdraw(monitor, monitor.windowing.holding(before).start)
    sweep_models(monitor, grace)
    sweep_backtests(monitor)
    withdraw_reports(monitor)
    files = store.vacuum(grace)
    records.volume.catch_up(store)
    names = [str(window) for window in expired]
    records.journal.note("klda", ACTION, posts=deleted, windows=names, files=files)
    records.database.settle()
    return Forgotten(deleted, tuple(expired), files)


def is_due(monitor: Monitor) -> bool:
    """Whether the last vacuum was a day ago, or never."""
    last = monitor.records.journal.entries(1, action=ACTION)
    return not last or monitor.clock() - last[0].at >= EVERY


def _drop_upload(monitor: Monitor, before: datetime) -> None:
    """Deletes a file that was handed in before this time and never stored to its end: all its posts are older."""
    with suppress(FileNotFoundError):
        if monitor.folder.upload.stat().st_mtime <= before.timestamp():
            monitor.folder.upload.unlink()


def _withdraw(monitor: Monitor, end: datetime) -> None:
    """Takes posts from before the end of the last expired window out of examples, and drops models of such windows.

    It looks at all of them, not at those of the windows that just went: a crash may have come in between.
    """
    gone = [
        example.id
        for saved in monitor.records.proposals.newest(limit=100_000)
        if saved.proposal.window and datetime.fromisoformat(saved.proposal.window) <= end
        for reason in saved.proposal.reasons
        for example in reason.examples
    ]
    monitor.records.proposals.withdraw_examples(gone)
    monitor.records.topics.withdraw_before(end)
    drop_models(monitor, [m for m in monitor.records.journal.models(100_000) if m.window_start < end])
