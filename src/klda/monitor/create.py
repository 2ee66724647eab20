"""A new monitor: its folder, its first keywords, and the certainty that its source can be opened."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from klda.errors import DataError, InputError, KldaError
from klda.monitor.monitor import MADE, Monitor, with_records
from klda.monitor.rules import check_rules
from klda.monitor.settings import MonitorSettings, resolved
from klda.store import MonitorFolder, create_monitor
from klda.store.sql.records import now
from klda.streams import Received, Source, source_of
from klda.text.matching import Matcher


def create(
    home: Path, name: str, settings: MonitorSettings, *, created_by: str, clock: Callable[[], datetime] = now
) -> MonitorFolder:
    """The folder of a new monitor; its first keywords hold from now on, or from the first window that is replayed.

    >>> import tempfile
    >>> from klda.monitor.monitor import opened
    >>> text = 'subject = "health"\\nkeywords = ["health", "drug"]\\nsource = "jetstream"'
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = create(Path(home), "health", MonitorSettings.parse(text), created_by="ann")
    ...     with opened(Path(home), "health") as monitor:
    ...         monitor.records.keywords.active().texts
    ('health', 'drug')
    """
    settings = settings.with_absolute_paths()
    keywords = settings.first_keywords()
    Matcher(keywords, adjacent=settings.adjacent)  # a keyword that can match nothing is refused here
    check_rules(settings, keywords)
    source = source_of(resolved(settings.source_table()))
    began = clock()
    if settings.by_event_time:
        began = settings.windowing().holding(asyncio.run(_first_time(source))).start
    folder = create_monitor(home, name, settings.to_toml())
    try:
        with with_records(folder, settings, clock) as monitor:
            begin(monitor, began, created_by=created_by)
    except KldaError:
        shutil.rmtree(folder.path)
        raise
    return folder


def begin(monitor: Monitor, at: datetime, *, created_by: str, **facts: Any) -> None:
    """Lets the first list hold from a time on, and notes what was asked for when the monitor was made."""
    keywords, records = monitor.settings.first_keywords(), monitor.records
    if records.journal.entries(1, action=MADE):
        raise InputError(
            f"the database has a monitor {monitor.name!r} already, of another folder or of one that is gone; choose "
            "another name, or another database"
        )
    reasons = dict.fromkeys(keywords.texts, "on the first list")
    records.keywords.switch(keywords, decided_by=created_by, reasons=reasons, at=at)
    facts = {"keywords": list(keywords.texts)} | monitor.settings.lasting() | facts
    records.journal.note(created_by, MADE, monitor.name, **facts)


async def _first_time(source: Source) -> datetime:
    """The time of the first post of a source that plays the past again."""
    async with aclosing(source.bursts()) as bursts:
        async for burst in bursts:
            for event in burst.events:
                if isinstance(event, Received):
                    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=event.row.time)
    raise DataError(f"{source.name}: there is no post to play again; check the files")
