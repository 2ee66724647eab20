"""Deletes what a monitor must no longer keep: posts, windows, or the whole monitor.

Examples, reports and models that show deleted posts go too. A collector does this every day, so the table keeps deleted
posts for seven days at most, in its history too. A collector needs this module, so it imports no library of learning.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from klda.advice.explanation import Example
from klda.errors import DataError
from klda.monitor.calendar import today
from klda.monitor.monitor import Monitor
from klda.monitor.own_backtest import sweep_backtests
from klda.store import PostStore, SavedProposal, TrainedModel
from klda.store.delta.post_store import GRACE
from klda.store.sql.topic_records import TopicExample
from klda.text.windows import parse_length
from klda.types import Window

ACTION = "vacuum"
EVERY = timedelta(days=1)


@dataclass(frozen=True)
class Forgotten:
    """The numbers of a vacuum: deleted posts, windows and files."""

    posts: int
    """Posts that were deleted at their source."""
    windows: tuple[Window, ...]
    """Windows past their retention."""
    files: int


def vacuum(monitor: Monitor, older_than: str | None = None, *, grace: timedelta = GRACE) -> Forgotten:
    """The posts, windows and files that were deleted. Windows that ended `older_than` ago go too.

    The default is the setting `retention`.
    """
    with monitor.folder.writer():
        return forget(monitor, monitor.posts(), older_than, grace=grace)


def forget(monitor: Monitor, store: PostStore, older_than: str | None = None, *, grace: timedelta = GRACE) -> Forgotten:
    """`vacuum`, for a process that already holds the write lock."""
    records, retention = monitor.records, older_than or monitor.settings.retention
    deleted = records.deletions.carry_out(store)
    expired: list[Window] = []
    if retention is not None:
        before = today(monitor) - parse_length(retention)
        expired = store.expire(before)
        _drop_upload(monitor, monitor.clock() - parse_length(retention))  # it is as old as its upload, not as its posts
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
    """Whether the last vacuum was at least a day ago."""
    last = monitor.records.journal.entries(1, action=ACTION)
    return not last or monitor.clock() - last[0].at >= EVERY


def delete(monitor: Monitor, *, deleted_by: str) -> None:
    """Deletes a monitor for good. It is refused while a process collects. After a crash, call it again.

    The folder goes last. Until then the monitor is listed, and can be deleted again. In a shared database the audit log
    stays, and with it the name.
    """
    with monitor.folder.writer():
        monitor.records.journal.note(deleted_by, "delete", monitor.name)
        if monitor.settings.storage.posts is not None:
            posts = monitor.posts()
            posts.expire(datetime.max.replace(tzinfo=UTC))
            posts.vacuum(timedelta(0))
        monitor.records.erase()
        remove(monitor)


def remove(monitor: Monitor) -> None:
    """Deletes the folder of a monitor. It disappears from the list at once."""
    gone = monitor.folder.path.with_name(f".{monitor.name}-{secrets.token_hex(4)}")
    monitor.records.close()
    monitor.folder.path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _drop_upload(monitor: Monitor, before: datetime) -> None:
    """Deletes an uploaded file that is older than this time and was never stored completely."""
    with suppress(FileNotFoundError):
        if monitor.folder.upload.stat().st_mtime <= before.timestamp():
            monitor.folder.upload.unlink()


def _withdraw(monitor: Monitor, end: datetime) -> None:
    """Removes posts before a time from saved examples, and models of windows before it.

    It checks all windows, not only those that expired now: a crash may have interrupted the last vacuum.
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


def drop_models(monitor: Monitor, models: list[TrainedModel]) -> None:
    """Deletes models and their files."""
    for model in models:
        monitor.records.journal.remove_model(model.id)
        shutil.rmtree(monitor.folder.path / model.path, ignore_errors=True)


def sweep_models(monitor: Monitor, grace: timedelta) -> int:
    """The number of deleted model folders that are older than `grace` and that no record names.

    A crash can leave them.
    """
    before = time.time() - grace.total_seconds()
    recorded = {Path(model.path).name for model in monitor.records.journal.models(100_000)}
    found = monitor.folder.models.iterdir() if monitor.folder.models.is_dir() else ()
    lost = [p for p in found if p.name not in recorded and p.stat().st_mtime <= before]
    for path in lost:
        shutil.rmtree(path)
    return len(lost)


def report_path(monitor: Monitor, saved: SavedProposal) -> Path:
    """The path of the report on a proposal. It changes when the proposal loses an example."""
    digest = sha256(saved.proposal.to_json().encode()).hexdigest()[:16]
    return _folder(monitor) / f"{saved.id}-{digest}.html"


def report_window(monitor: Monitor, saved: SavedProposal) -> Window:
    """The window that a proposal was made from."""
    if saved.proposal.window is None:
        raise DataError(f"proposal {saved.id} names no window; make it again with `klda monitor propose`")
    return monitor.windowing.holding(datetime.fromisoformat(saved.proposal.window) - timedelta(microseconds=1))


def withdraw_reports(monitor: Monitor) -> int:
    """The number of deleted reports: those that show a post which their proposal no longer shows."""
    written = list(_folder(monitor).glob("*")) if _folder(monitor).is_dir() else []
    if not written:
        return 0
    valid = {report_path(monitor, saved) for saved in monitor.records.proposals.newest(limit=100_000)}
    stale = [path for path in written if path not in valid]
    for path in stale:
        path.unlink(missing_ok=True)
    return len(stale)


def _folder(monitor: Monitor) -> Path:
    return monitor.folder.path / "reports"


def check_examples(monitor: Monitor, shown: Iterable[Example | TopicExample], windows: Iterable[Window]) -> None:
    """Removes saved examples whose posts are no longer stored. Call it after examples were saved.

    A proposal takes minutes. A post that was deleted meanwhile may be among its examples.
    """
    left, store = {(example.id, example.text) for example in shown}, monitor.posts()
    for sample in (False, True):
        own = pc.field("id").isin(pa.array((name for name, _ in left), pa.string()))
        there = store.read(windows, sample=sample).where(own, ["id", "text"])
        left -= set(zip(*(column.to_pylist() for column in there.columns), strict=True))
    gone = [name for name, _ in left]
    monitor.records.proposals.withdraw_examples(gone)
    monitor.records.topics.withdraw_examples(gone)
