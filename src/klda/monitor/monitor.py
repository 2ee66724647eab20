"""A monitor that is open: its settings, its posts and its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from klda.corpus.windows import Windowing
from klda.monitor.settings import Settings, from_environment
from klda.sources.live import Source, source_of
from klda.store import MonitorFolder, PostStore, Records, open_monitor
from klda.store.records import now
from klda.types import KeywordSet, Window


@dataclass(frozen=True)
class Monitor:
    """What every use case works on."""

    folder: MonitorFolder
    settings: Settings
    records: Records
    clock: Callable[[], datetime] = now

    @property
    def name(self) -> str:
        """The monitor's name."""
        return self.folder.name

    @property
    def windowing(self) -> Windowing:
        """How time is cut."""
        return self.settings.windowing()

    def posts(self) -> PostStore:
        """The posts, opened anew: threads that read and write at once need one each."""
        storage = self.settings.storage
        return self.folder.posts(
            self.windowing,
            uri=None if storage.posts is None else from_environment(storage.posts),
            storage_options={key: from_environment(value) for key, value in storage.options.items()},
            pseudonymise=self.settings.pseudonymise,
        )

    def source(self) -> Source:
        """The source, not yet connected."""
        return source_of(self.settings.source_table(self.name))

    def began(self) -> datetime:
        """When its first list became active."""
        return self.records.keywords.spans()[0].started

    def active_in(self, window: Window) -> KeywordSet:
        """The keywords with which a window ended."""
        spans = self.records.keywords.spans()
        inside = (s.keyword for s in spans if s.started < window.end and (s.ended is None or s.ended >= window.end))
        return KeywordSet(tuple(inside))


@contextmanager
def opened(home: Path, name: str, *, clock: Callable[[], datetime] = now) -> Iterator[Monitor]:
    """The monitor of this name, for as long as the block lasts."""
    folder = open_monitor(home, name)
    with with_records(folder, Settings.load(folder.settings), clock) as monitor:
        yield monitor


@contextmanager
def with_records(folder: MonitorFolder, settings: Settings, clock: Callable[[], datetime] = now) -> Iterator[Monitor]:
    """The monitor in a folder, for as long as the block lasts."""
    address = settings.storage.database
    records = folder.records(None if address is None else from_environment(address), clock=clock)
    try:
        yield Monitor(folder, settings, records, clock)
    finally:
        records.close()
