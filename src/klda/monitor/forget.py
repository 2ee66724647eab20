"""Forgetting: posts deleted at their source, windows past their retention, and the files that still hold them.

A collector does this every day by itself; then nothing that was deleted outlives seven days, in the table's history
either.
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


def drop_models(monitor: Monitor, models: list[TrainedModel]) -> None:
    """Forgets models, and removes their files."""
    for model in models:
        monitor.records.journal.remove_model(model.id)
        shutil.rmtree(monitor.folder.path / model.path, ignore_errors=True)


def sweep_models(monitor: Monitor, grace: timedelta) -> int:
    """Removes files that a crash left between writing and recording, as old as that, and returns how many."""
    before = time.time() - grace.total_seconds()
    recorded = {Path(model.path).name for model in monitor.records.journal.models(100_000)}
    found = monitor.folder.models.iterdir() if monitor.folder.models.is_dir() else ()
    lost = [p for p in found if p.name not in recorded and p.stat().st_mtime <= before]
    for path in lost:
        shutil.rmtree(path)
    return len(lost)


def report_path(monitor: Monitor, saved: SavedProposal) -> Path:
    """Where the report on a proposal lies, as the proposal stands now."""
    digest = sha256(saved.proposal.to_json().encode()).hexdigest()[:16]
    return _folder(monitor) / f"{saved.id}-{digest}.html"


def report_window(monitor: Monitor, saved: SavedProposal) -> Window:
    """The window that a proposal was made from."""
    if saved.proposal.window is None:
        raise DataError(f"proposal {saved.id} names no window; make it again with `klda monitor propose`")
    return monitor.windowing.holding(datetime.fromisoformat(saved.proposal.window) - timedelta(microseconds=1))


def withdraw_reports(monitor: Monitor) -> int:
    """Removes the reports that show what their proposal no longer does, and returns how many."""
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
    """Takes back the examples whose posts are not stored any more as they are shown; call it once they are saved."""
    left, store = {(example.id, example.text) for example in shown}, monitor.posts()
    for sample in (False, True):
        own = pc.field("id").isin(pa.array((name for name, _ in left), pa.string()))
        there = store.read(windows, sample=sample).where(own, ["id", "text"])
        left -= set(zip(*(column.to_pylist() for column in there.columns), strict=True))
    gone = [name for name, _ in left]
    monitor.records.proposals.withdraw_examples(gone)
    monitor.records.topics.withdraw_examples(gone)


def delete(monitor: Monitor, *, deleted_by: str) -> None:
    """Deletes a monitor for good; refused while somebody collects for it. After a crash it can be called again.

    The folder goes last: for as long as it is there, the monitor is listed, and can be deleted once more. In a database
    that it shared with others the audit log stays, and with it the name.
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
    """Deletes the folder of a monitor; it vanishes from the list at once."""
    gone = monitor.folder.path.with_name(f".{monitor.name}-{secrets.token_hex(4)}")
    monitor.records.close()
    monitor.folder.path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
