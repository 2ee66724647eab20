"""Collecting: source → filter → batches → store, from where the last run stopped, until told to stop.

A batch is committed with the cursor after it; whatever is lost with a process comes again from that cursor. Deletions,
edits and gaps are noted before the cursor passes them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from klda.errors import KldaError, SettingError, SourceError
from klda.monitor.batch import PostBatch
from klda.monitor.filter_sync import REFUSED, TAKEN, followed, refusal
from klda.monitor.memory import give_back
from klda.monitor.monitor import Monitor
from klda.monitor.replay_clock import ByEventTime, note_end, note_reached
from klda.monitor.reports import withdraw_reports
from klda.monitor.vacuum import forget, is_due
from klda.posts.formats.outcome import batch_of
from klda.store import PostStore, RecordedGap
from klda.streams import Filtered, Gap, Selection, Source
from klda.streams.connections import MAX_WAIT
from klda.types import KeywordSet, Progress, Window, silent

T = TypeVar("T")

POLL = 2.0
"""Seconds between two looks which keywords hold: those who decide need not be this process."""
PATIENCE = 5.0
"""Seconds that collecting waits for a change of keywords; one that takes longer goes on beside it."""
AGAIN = MAX_WAIT
"""Seconds until keywords that the source refused are tried again: as long as a platform may have asked to wait."""
FORGET_EVERY = 3600.0
"""Seconds between two rounds of deleting what was deleted at the source."""
ABANDONED = timedelta(minutes=10)
"""A job that has said nothing for so long belongs to a process that died."""


@dataclass
class Counts:
    """What one run brought."""

    received: int = 0
    stored: int = 0
    duplicates: int = 0
    deleted: int = 0
    batches: int = 0
    ended: bool = False
    """Whether the source came to its end, as a replay does."""


class Collector:
    """One run of collecting, by the one process that writes; `source` may be cut by event time."""

    def __init__(self, monitor: Monitor, source: Source, *, progress: Progress = silent) -> None:
        settings = monitor.settings
        self.monitor, self.source, self.counts = monitor, source, Counts()
        self.filter = Filtered(
            source,
            followed(monitor),
            sample=settings.sample,
            seed=settings.seed,
            adjacent=settings.adjacent,
        )
        self._store: PostStore = monitor.posts()
        self._progress = progress
        position = self._store.position(source.name)
        self._number = position.batch if position else 0
        self._batch = PostBatch(position.cursor or None if position else None)
        self._looked = self._swept = self._again = time.monotonic()
        self._following: asyncio.Task[None] | None = None
        self._refused: KeywordSet | None = None
        # one thread does all that waits for a disk: each further one would keep memory of its own
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="store")

    async def run(self, stop: asyncio.Event, between: Callable[[], Awaitable[None]] | None = None) -> Counts:
        """Collects until told to stop or the source ends; `between` is called after each burst and while none comes."""
        job = self.monitor.records.jobs.add("collect")
        error: str | None = None
        try:
            await self._apart(self.monitor.records.volume.catch_up, self._store)  # a crash may have left it behind
            await self._collect(stop, job, between)
            await self.flush()
            if self.counts.ended:  # what the table forgets must not lie beside it for ever
                self.monitor.folder.upload.unlink(missing_ok=True)
            await self._apart(self._forget)
        except Exception as failure:
            error = str(failure) or type(failure).__name__
            with suppress(Exception):  # as above: and a source that cannot replay brings none of it again
                await self.flush()
            raise
        finally:
            with suppress(KldaError):  # what went wrong first is what to tell
                self.monitor.records.jobs.finish(job, error=error, **asdict(self.counts))
        return self.counts

    async def _collect(self, stop: asyncio.Event, job: str, between: Callable[[], Awaitable[None]] | None) -> None:
        bursts = self.filter.bursts(self._batch.cursor)
        stopping = asyncio.ensure_future(stop.wait())
        pull: asyncio.Future[Selection | None] | None = None
        try:
            await self._follow_beside()  # before the first burst: a list may have been decided while nothing ran
            while not stop.is_set():
                # asked for only now: a burst is matched when it is taken, with the keywords that hold by then
                pull = pull or asyncio.ensure_future(anext(bursts, None))
                patience = max(0.0, min(self._batch.waits, POLL))
                waiting: set[asyncio.Future[Any]] = {pull, stopping}
                await asyncio.wait(waiting, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                if pull.done():
                    selection, pull = pull.result(), None
                    if selection is None:
                        self.counts.ended = True
                        return
                    self.counts.received += selection.received
                    self._batch.add(selection)
                if self._batch.is_full or self._batch.waits <= 0:
                    await self.flush()
                await self._look(stop, job)
                if between is not None:
                    await between()
        finally:
            for task in (pull, stopping, self._following):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
            await bursts.aclose()

    async def flush(self) -> None:
        """Commits what is in hand."""
        if self._batch.n_events or self._batch.moved:
            await self._apart(self._commit)
            self._progress("collect", self.counts.received, stored=self.counts.stored)

    async def follow(self) -> None:
        """Lets the filter follow the keywords that are active by now; where the source refuses, the old ones hold."""
        active = await self._apart(self.monitor.records.keywords.active)
        if active == self.filter.keywords or (active == self._refused and time.monotonic() < self._again):
            return
        note = partial(self.monitor.records.journal.note, keywords=list(active.texts))
        try:
            await self.filter.update_keywords(active)
        except (SettingError, SourceError) as error:
            self._refused, self._again = active, time.monotonic() + AGAIN
            if await self._apart(refusal, self.monitor) != str(error):  # said once, however often it is tried
                await self._apart(partial(note, reason=str(error)), "klda", REFUSED, self.source.name)
        else:
            await self._apart(note, "klda", TAKEN, self.source.name)

    async def _follow_beside(self) -> None:
        """Lets the filter follow, and collecting go on where that takes long: platforms may ask for minutes."""
        if self._following is None:
            self._following = asyncio.ensure_future(self.follow())
            await asyncio.wait({self._following}, timeout=PATIENCE)
        if self._following.done():
            following, self._following = self._following, None
            following.result()

    def _commit(self) -> None:
        batch, records, source = self._batch, self.monitor.records, self.source.name
        records.deletions.note(source, batch.deleted)
        records.deletions.note(source, batch.authors, author=True)
        records.deletions.note(source, batch.edited, edited=True)
        for gap in batch.gaps:
            self._note(gap)
        appended = self._store.append(
            batch_of(batch.posts),
            batch.keywords,
            source=source,
            batch=self._number + 1,
            cursor=batch.cursor or "",
            sample=batch_of(batch.sample),
            edited=batch.edited,
        )
        records.volume.catch_up(self._store)
        self._number += 1
        self._batch = PostBatch(batch.cursor)
        self.counts.batches += 1
        self.counts.stored += appended.posts
        self.counts.duplicates += appended.duplicates
        self.counts.deleted += len(batch.deleted)
        give_back()

    def _note(self, gap: Gap) -> None:
        """Records a time without a connection; where the source has fetched what it missed, only in the audit log."""
        journal, source = self.monitor.records.journal, self.source.name
        if gap.filled:
            times = {"start": gap.start.isoformat(), "end": gap.end.isoformat()}
            journal.note("klda", "gap filled", source, reason=gap.reason, **times)
        else:
            journal.add_gap(RecordedGap(source, gap.start, gap.end, gap.reason))

    async def _look(self, stop: asyncio.Event, job: str) -> None:
        """Now and then: which keywords hold, whether somebody wants this to stop, what was deleted at the source."""
        now = time.monotonic()
        if now - self._looked >= POLL:
            self._looked = now
            await self._follow_beside()
            if not await self._apart(self.monitor.records.jobs.report, job, "collect", self.counts.received):
                stop.set()
        if now - self._swept >= FORGET_EVERY:
            self._swept = now
            await self._apart(self._forget)

    async def _apart(self, work: Callable[..., T], *arguments: Any) -> T:
        """What the work returns, which other tasks need not wait for."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, work, *arguments)

    def _forget(self) -> None:
        """Deletes what was deleted or replaced at the source; once a day from the table's history, too."""
        if is_due(self.monitor):
            forget(self.monitor, self._store)
            return
        self.monitor.records.deletions.carry_out(self._store)
        self.monitor.records.volume.catch_up(self._store)
        withdraw_reports(self.monitor)


async def collect(monitor: Monitor, stop: asyncio.Event, *, progress: Progress = silent) -> Counts:
    """Collects until told to stop, or until a replay ends; nobody else may write meanwhile."""
    with monitor.folder.writer():
        monitor.records.jobs.abandon(ABANDONED)
        source = monitor.source()
        if monitor.settings.by_event_time:
            return await _replayed(monitor, ByEventTime(source, monitor.windowing), stop, progress)
        return await Collector(monitor, source, progress=progress).run(stop)


async def _replayed(monitor: Monitor, source: ByEventTime, stop: asyncio.Event, progress: Progress) -> Counts:
    """Collects, and notes each window that the replay comes to."""
    window: Window | None = None

    async def between() -> None:
        nonlocal window
        if source.window is not None and source.window != window:
            window = source.window
            await asyncio.to_thread(note_reached, monitor, window)

    counts = await Collector(monitor, source, progress=progress).run(stop, between)
    if counts.ended:
        note_end(monitor)
    return counts
