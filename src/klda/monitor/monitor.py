"""An open monitor: its settings, posts and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from klda.errors import SettingError
from klda.monitor.monitor_settings import MonitorSettings, from_environment, resolved
from klda.posts.schema import PostTable
from klda.store import MonitorFolder, PostStore, Records, open_monitor
from klda.store.sql.records import now
from klda.streams import Source, source_of
from klda.streams.replay import Replay
from klda.text.windows import Windowing
from klda.types import KeywordSet, Window

MADE = "create"
"""Action in the audit log that holds the settings with which a monitor was made."""


@dataclass(frozen=True)
class Monitor:
    """The monitor that all functions of this package work on."""

    folder: MonitorFolder
    settings: MonitorSettings
    records: Records
    clock: Callable[[], datetime] = now

    @property
    def name(self) -> str:
        """The monitor's name."""
        return self.folder.name

    @property
    def windowing(self) -> Windowing:
        """How time is divided into windows."""
        return self.settings.windowing()

    def posts(self) -> PostStore:
        """The posts, in a new connection. Threads that read and write at once need one each."""
        storage = self.settings.storage
        return self.folder.posts(
            self.windowing,
            uri=None if storage.posts is None else from_environment(storage.posts),
            storage_options={key: from_environment(value) for key, value in storage.options.items()},
            pseudonymise=self.settings.pseudonymise,
        )

    def source(self) -> Source:
        """The source, not yet connected. An uploaded file brings nothing once all its posts are stored."""
        table, upload = self.settings.source_table(self.name), self.folder.upload
        if table.get("posts") == str(upload.absolute()) and not upload.exists():
            return Replay(PostTable.of(()))
        return source_of(resolved(table))

    def began(self) -> datetime:
        """When its first list became active."""
        return self.records.keywords.spans()[0].started

    def active_in(self, window: Window) -> KeywordSet:
        """The keywords that were active at the end of a window."""
        spans = self.records.keywords.spans()
        inside = (s.keyword for s in spans if s.started < window.end and (s.ended is None or s.ended >= window.end))
        return KeywordSet(tuple(inside))


@contextmanager
def opened(home: Path | str, name: str, *, clock: Callable[[], datetime] = now) -> Iterator[Monitor]:
    """The monitor of this name, open during the block."""
    with opened_in(open_monitor(Path(home), name), clock) as monitor:
        yield monitor


@contextmanager
def opened_in(folder: MonitorFolder, clock: Callable[[], datetime] = now) -> Iterator[Monitor]:
    """The monitor in a folder, open during the block. SettingError if a permanent setting was changed."""
    with with_records(folder, MonitorSettings.load(folder.settings), clock) as monitor:
        _check_lasting(monitor)
        yield monitor


@contextmanager
def with_records(
    folder: MonitorFolder, settings: MonitorSettings, clock: Callable[[], datetime] = now
) -> Iterator[Monitor]:
    """A monitor with these settings, open during the block, without a check of permanent settings."""
    address = settings.storage.database
    records = folder.records(None if address is None else from_environment(address), clock=clock)
    try:
        yield Monitor(folder, settings, records, clock)
    finally:
        records.close()


def _check_lasting(monitor: Monitor) -> None:
    """Refuses a changed setting that would give stored posts another meaning."""
    made = monitor.records.journal.entries(1, action=MADE)
    for name, value in monitor.settings.lasting().items():
        before = made[0].detail.get(name, value) if made else value
        if before != value:
            raise SettingError(
                f"{monitor.folder.settings}: {name} was {before!r} when the monitor was made, and stored posts depend "
                f"on it (given: {value!r}); set it back to {before!r}, or make another monitor"
            )
