"""Collects posts: source → filter → batches → store. A run begins where the last one stopped.

A batch is committed together with its cursor. If a process dies, the source delivers the lost posts again from that
cursor. Deletions, edits and gaps are recorded before the cursor moves past them.
"""

from __future__ import annotations

import asyncio
import ctypes
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from klda.errors import KldaError, SettingError, SourceError
from klda.monitor.calendar import ByEventTime, note_end, note_reached
from klda.monitor.forget import forget, is_due, withdraw_reports
from klda.monitor.monitor import Monitor
from klda.monitor.rules import REFUSED, TAKEN, followed, refusal
from klda.posts.formats.outcome import Row, batch_of
from klda.store import MonitorFolder, PostStore, RecordedGap, open_monitor
from klda.streams import Collected, Deleted, Filtered, Gap, Selection, Source
from klda.streams.connections import MAX_WAIT
from klda.types import KeywordSet, Progress, Window, silent

T = TypeVar("T")

MOST_EVENTS = 5_000
MOST_CHARACTERS = 16_000_000
"""A batch is committed at this size, so that memory stays bounded however fast the stream is."""
SECONDS = 5.0
"""A post is committed after this time at the latest."""
IDLE_SECONDS = 60.0
"""A cursor that moved without posts is committed after this time: each commit makes the table a little larger."""
POLL = 2.0
"""Seconds between two checks for new keywords: another process may have decided."""
PATIENCE = 5.0
"""Seconds to wait for a source that changes its keywords. After that, collecting continues beside the change."""
AGAIN = MAX_WAIT
"""Seconds until keywords that the source refused are tried again. Platforms ask to wait this long at most."""
FORGET_EVERY = 3600.0
"""Seconds between two rounds of deleting posts that were deleted at their source."""
ABANDONED = timedelta(minutes=10)
"""A job without progress for this time belongs to a process that died."""
_LONGEST = 2_000  # characters, as pages show it
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # settings in glibc's malloc.h
_LARGE = 1 << 18
_ARENAS = 2


@dataclass
class Counts:
    """Numbers of one run."""

    received: int = 0
    stored: int = 0
    duplicates: int = 0
    deleted: int = 0
    batches: int = 0
    ended: bool = False
    """Whether the source has ended, as a replay does."""


@dataclass
class PostBatch:
    """Posts, sample, deletions and gaps since the last commit, and the cursor after them."""

    cursor: str | None = None
    posts: list[Row] = field(default_factory=list)
    keywords: list[tuple[str, ...]] = field(default_factory=list)
    sample: list[Row] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    authors: set[str] = field(default_factory=set)
    """Authors whose accounts were deleted."""
    edited: set[str] = field(default_factory=set)
    """Ids of posts in this batch that replace an older text. A post is never both deleted and edited."""
    gaps: list[Gap] = field(default_factory=list)
    characters: int = 0
    moved: bool = False
    """Whether the cursor has moved since the last commit."""
    began: float = field(default_factory=time.monotonic)

    def add(self, selection: Selection) -> None:
        """Adds the posts that passed the filter."""
        for event in selection.events:
            if isinstance(event, Collected):
                if event.edited:
                    self._take_back(event.row.id)
                self.characters += len(event.row.text)
                if event.keywords:
                    self.posts.append(event.row)
                    self.keywords.append(event.keywords)
                if event.sampled:
                    self.sample.append(event.row)
            elif isinstance(event, Deleted) and event.author:
                self.authors.add(event.id)
            elif isinstance(event, Deleted):
                self.deleted.add(event.id)
                self.edited.discard(event.id)
            elif isinstance(event, Gap):
                self.gaps.append(event)
        self.moved |= selection.cursor != self.cursor
        self.cursor = selection.cursor

    def _take_back(self, name: str) -> None:
        """Removes a post, to make room for its new text."""
        self.deleted.discard(name)
        self.edited.add(name)
        kept = [(row, carried) for row, carried in zip(self.posts, self.keywords, strict=True) if row.id != name]
        self.posts, self.keywords = [row for row, _ in kept], [carried for _, carried in kept]
        self.sample = [row for row in self.sample if row.id != name]

    @property
    def n_events(self) -> int:
        """Number of posts, deletions and gaps in the batch."""
        return len(self.posts) + len(self.sample) + len(self.deleted) + len(self.authors) + len(self.gaps)

    @property
    def is_full(self) -> bool:
        """Whether the batch must be committed before more is added."""
        return self.n_events >= MOST_EVENTS or self.characters >= MOST_CHARACTERS

    @property
    def waits(self) -> float:
        """Seconds until the batch should be committed. Negative if that is overdue."""
        if not (self.n_events or self.moved):
            return IDLE_SECONDS
        return self.began + (SECONDS if self.n_events else IDLE_SECONDS) - time.monotonic()


class Collector:
    """One run of collecting. Only one process may write at a time."""

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
        # one thread for all disk work: each further thread would hold memory of its own
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="store")

    async def run(self, stop: asyncio.Event, between: Callable[[], Awaitable[None]] | None = None) -> Counts:
        """Collects until `stop` is set or the source ends.

        `between` is called after each burst, and while none comes.
        """
        job = self.monitor.records.jobs.add("collect")
        error: str | None = None
        try:
            await self._apart(self.monitor.records.volume.catch_up, self._store)  # counts may be behind after a crash
            await self._collect(stop, job, between)
            await self.flush()
            if self.counts.ended:  # a second copy of posts would outlive their deletion
                self.monitor.folder.upload.unlink(missing_ok=True)
            await self._apart(self._forget)
        except Exception as failure:
            error = str(failure) or type(failure).__name__
            with suppress(Exception):  # keep what was collected: a source that cannot replay would not deliver it again
                await self.flush()
            raise
        finally:
            with suppress(KldaError):  # the first error is the one to report
                self.monitor.records.jobs.finish(job, error=error, **asdict(self.counts))
        return self.counts

    async def _collect(self, stop: asyncio.Event, job: str, between: Callable[[], Awaitable[None]] | None) -> None:
        bursts = self.filter.bursts(self._batch.cursor)
        stopping = asyncio.ensure_future(stop.wait())
        pull: asyncio.Future[Selection | None] | None = None
        try:
            await self._follow_beside()  # before the first burst: somebody may have changed the list while nothing ran
            while not stop.is_set():
                # pulled only now: a burst is matched when it is taken, with the keywords that are active then
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
        """Commits the current batch."""
        if self._batch.n_events or self._batch.moved:
            await self._apart(self._commit)
            self._progress("collect", self.counts.received, stored=self.counts.stored)

    async def follow(self) -> None:
        """Passes the active keywords on to the source. If the source refuses them, the list before stays in use."""
        active = await self._apart(self.monitor.records.keywords.active)
        if active == self.filter.keywords or (active == self._refused and time.monotonic() < self._again):
            return
        note = partial(self.monitor.records.journal.note, keywords=list(active.texts))
        try:
            await self.filter.update_keywords(active)
        except (SettingError, SourceError) as error:
            self._refused, self._again = active, time.monotonic() + AGAIN
            if await self._apart(refusal, self.monitor) != str(error):  # recorded once, however often it is tried
                await self._apart(partial(note, reason=str(error)), "klda", REFUSED, self.source.name)
        else:
            await self._apart(note, "klda", TAKEN, self.source.name)

    async def _follow_beside(self) -> None:
        """Starts `follow`, and lets collecting continue if it takes long. Some platforms ask to wait for minutes."""
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
        """Records a time without a connection.

        If the source has fetched the missed posts, only the audit log says so.
        """
        journal, source = self.monitor.records.journal, self.source.name
        if gap.filled:
            times = {"start": gap.start.isoformat(), "end": gap.end.isoformat()}
            journal.note("klda", "gap filled", source, reason=gap.reason, **times)
        else:
            journal.add_gap(RecordedGap(source, gap.start, gap.end, gap.reason))

    async def _look(self, stop: asyncio.Event, job: str) -> None:
        """At intervals: looks for new keywords, for a cancellation, and for posts deleted at their source."""
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
        """The result of work that is done in the thread for disk work."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, work, *arguments)

    def _forget(self) -> None:
        """Deletes posts that were deleted or replaced at their source.

        Once a day, also from the history of the table.
        """
        if is_due(self.monitor):
            forget(self.monitor, self._store)
            return
        self.monitor.records.deletions.carry_out(self._store)
        self.monitor.records.volume.catch_up(self._store)
        withdraw_reports(self.monitor)


async def collect(monitor: Monitor, stop: asyncio.Event, *, progress: Progress = silent) -> Counts:
    """The numbers of a run that collects until `stop` is set or a replay ends. No other process may write meanwhile."""
    with monitor.folder.writer():
        monitor.records.jobs.abandon(ABANDONED)
        source = monitor.source()
        if monitor.settings.by_event_time:
            return await _replayed(monitor, ByEventTime(source, monitor.windowing), stop, progress)
        return await Collector(monitor, source, progress=progress).run(stop)


async def _replayed(monitor: Monitor, source: ByEventTime, stop: asyncio.Event, progress: Progress) -> Counts:
    """Collects from a replay, and records each window that it reaches."""
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


@contextmanager
def leaving_failure(home: Path, name: str) -> Iterator[None]:
    """Writes the error that ends the block into the monitor's folder, for people who did not see it end."""
    file = open_monitor(home, name).failure
    with suppress(OSError):
        file.unlink()
    try:
        yield
    except Exception as error:
        with suppress(OSError):  # the first error is the one to report
            file.write_text(" ".join((str(error) or type(error).__name__).split())[:_LONGEST] + "\n", encoding="utf-8")
        raise
    with suppress(OSError):  # written by a second process that could not start
        file.unlink()


def failure(folder: MonitorFolder) -> str | None:
    """Why collecting failed. None if it is running, ended well, or never started."""
    if folder.being_written:
        return None
    try:
        return folder.failure.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return None


def hold_little() -> None:
    """Makes the C library return freed memory to the system. Call it at the start of a process that runs for months.

    Arrow and the C library keep freed memory, each thread in an arena of its own. Over thousands of commits such a
    process grows, although it needs no more than before. So Arrow takes its memory from the C library here, all threads
    share two arenas, and blocks of 256 KiB and more go back at once. Arrow's own allocator kept 25 MB although no array
    was left (docs/history/benchmarks.md).
    """
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:
        setting(_ARENA_MAX, _ARENAS)
        setting(_MMAP_THRESHOLD, _LARGE)
        pa.set_memory_pool(pa.system_memory_pool())


def give_back() -> None:
    """Returns freed memory to the system. Takes a few milliseconds."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
