"""Makes a monitor, from settings or from an uploaded file of posts."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from klda.errors import DataError, InputError, KldaError
from klda.monitor.calendar import close, closed
from klda.monitor.collect import Collector
from klda.monitor.forget import remove
from klda.monitor.jobs import recorded
from klda.monitor.monitor import MADE, Monitor, with_records
from klda.monitor.monitor_settings import MonitorSettings, resolved
from klda.monitor.rules import check_rules
from klda.monitor.uploads import Preview, discard, file_of, preview
from klda.posts.reader import PostReader, read_posts
from klda.store import MonitorFolder, create_monitor
from klda.store.sql.records import now
from klda.streams import Received, Source, source_of
from klda.text.matching import Matcher
from klda.types import Progress, silent

SAMPLED = 200_000
"""Size of the unfiltered sample of an uploaded file. A file, unlike a stream, can show all that the keywords miss."""


def create(
    home: Path, name: str, settings: MonitorSettings, *, created_by: str, clock: Callable[[], datetime] = now
) -> MonitorFolder:
    """The folder of a new monitor. Its first keywords are active from now on, or from the first window of a replay.

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
    Matcher(keywords, adjacent=settings.adjacent)  # refuses a keyword that can match nothing
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
    """Activates the first list from a time on, and records the settings in the audit log."""
    keywords, records = monitor.settings.first_keywords(), monitor.records
    if records.journal.entries(1, action=MADE):
        raise InputError(
            f"the database already has a monitor {monitor.name!r}, from another folder or a deleted one; choose "
            "another name, or another database"
        )
    reasons = dict.fromkeys(keywords.texts, "on the first list")
    records.keywords.switch(keywords, decided_by=created_by, reasons=reasons, at=at)
    facts = {"keywords": list(keywords.texts)} | monitor.settings.lasting() | facts
    records.journal.note(created_by, MADE, monitor.name, **facts)


async def _first_time(source: Source) -> datetime:
    """The time of the first post of a replay."""
    async with aclosing(source.bursts()) as bursts:
        async for burst in bursts:
            for event in burst.events:
                if isinstance(event, Received):
                    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=event.row.time)
    raise DataError(f"{source.name}: it has no posts; check the files")


def settings_for(seen: Preview, values: Mapping[str, Any]) -> MonitorSettings:
    """The settings of a monitor that is made from an upload. They include `source` and `sample`."""
    source = {"kind": "replay", "posts": "posts", **seen.reading}
    own = {"source": source, "sample": round(min(1.0, SAMPLED / seen.posts), 4)}
    return MonitorSettings.of(dict(values) | own, "the form")


def create_from_upload(
    home: Path, name: str, upload: str, values: Mapping[str, Any], *, created_by: str
) -> MonitorFolder:
    """The folder of a new monitor that owns the uploaded file. `fill` then stores the posts."""
    seen = preview(home, upload)
    settings = settings_for(seen, values)
    matcher = Matcher(settings.first_keywords(), adjacent=settings.adjacent)  # refuses keywords that can match nothing
    if settings.windowing().holding(seen.begins) == settings.windowing().holding(seen.ends):
        raise DataError("all posts are in one window; choose a shorter window, so that there are at least two")
    _check_match(read_posts(file_of(home, upload), timezone=seen.timezone, date_format=seen.date_format), matcher)
    folder = create_monitor(home, name, settings.to_toml())
    try:
        shutil.copyfile(file_of(home, upload), folder.upload)
        settings = settings.model_copy(update={"source": settings.source | {"posts": str(folder.upload.absolute())}})
        folder.settings.write_text(settings.to_toml(), encoding="utf-8")
        with with_records(folder, settings) as monitor:
            began = settings.windowing().holding(seen.begins).start
            begin(monitor, began, created_by=created_by, posts=seen.posts)
    except (KldaError, OSError):
        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    discard(home, upload)
    return folder


def _check_match(posts: PostReader, matcher: Matcher) -> None:
    """Refuses keywords that no post of a file has. Stops reading at the first post that has one."""
    for batch in posts.batches():
        if len(matcher.match_many(batch.column("text").to_pylist()).values):
            return
    raise DataError("no post of the file has any of these keywords; give words that its posts use")


def fill(monitor: Monitor, *, progress: Progress = silent, job: str | None = None) -> str:
    """The id of the first proposal, after the posts of the file are stored and its windows closed.

    The file is deleted when all its posts are stored. After a crash, call it again: it continues. If somebody cancels
    the job, the monitor is deleted.
    """
    from klda.monitor.propose import propose_within  # these import libraries of learning
    from klda.monitor.window_topics import learn_topics

    try:
        with recorded(monitor, "create", progress, job=job) as (report, result):
            with monitor.folder.writer():
                asyncio.run(_collected(monitor, report))
            report("closing windows", 0)
            close(monitor)
            if len(closed(monitor)) < 2:
                raise DataError("fewer than two windows of the file have ended; choose a shorter window")
            with suppress(DataError):  # a few posts have no topics worth showing
                learn_topics(monitor, progress=report)
            made = propose_within(monitor, None, report)
            result["proposal"] = made.id
            return made.id
    finally:
        if job is not None and monitor.records.jobs.get(job).state == "cancelled":
            remove(monitor)


async def _collected(monitor: Monitor, progress: Progress) -> None:
    """Stores all posts of the file. The preview has counted them."""
    collector = Collector(monitor, monitor.source(), progress=silent)
    noted = monitor.records.journal.entries(action=MADE)
    total = next((int(entry.detail["posts"]) for entry in noted if "posts" in entry.detail), None)

    async def between() -> None:
        progress("storing posts", collector.counts.received, total)

    await collector.run(asyncio.Event(), between)
