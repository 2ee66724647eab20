"""A folder whose files are read as they arrive: JSON lines while the file grows, files of other formats as a whole.

A line is read when it is complete, with its line feed. Files of other formats are read when they have not changed for
a moment; it is safest to rename a finished file into the folder. Names that begin with a dot or end in `.tmp`, `.part`
or `.partial` are ignored. The cursor holds how far each file was read. A file is identified by its first bytes, so a
file that was renamed or extended is not read twice. Deletions and edits in JSON lines are applied; other files bring
posts only.
"""

from __future__ import annotations

import asyncio
import time
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import orjson

from klda.errors import InputError, SettingError
from klda.posts.files import MAX_LINE, find_files, opened
from klda.posts.formats.outcome import FOREIGN_FILE, TOO_LONG, Bad, Skip
from klda.posts.formats.times import date_reader, time_zone
from klda.posts.input_types import FileType, file_type, is_object
from klda.posts.parsing import json_outcomes
from klda.posts.reader import read_posts
from klda.streams.protocol import Burst, Event, Health, Received, event_of
from klda.streams.replay import BURST, rows_of
from klda.types import KeywordSet

CHUNK = 1 << 20
"""Bytes of a growing file that are read at once."""
_UNFINISHED = (".tmp", ".part", ".partial")
_HEAD = 4096  # first bytes of a file, which identify it

Position = tuple[int | str, int, int]
"""How far a file was read: the digest of its first bytes (in old cursors its inode); its size when it was read to the
end, or -1; and the bytes read of JSON lines, or the posts read of other formats."""
Part = tuple[list[Event], Position]


class Folder:
    """The posts of the files in a folder and of all files that arrive there; it never ends.

    every: seconds between two checks. settle: seconds without change after which a file counts as finished.
    timezone, date_format: how to read the times of all files, as in `read_posts`.
    """

    replayable = True
    unfiltered = True

    def __init__(
        self,
        path: Path,
        *,
        every: float = 1.0,
        settle: float = 2.0,
        timezone: str | None = None,
        date_format: str | None = None,
    ) -> None:
        self._path = Path(path)
        if not self._path.is_dir():
            raise SettingError(f"{path}: there is no such folder; create it first")
        self.name = f"folder {self._path.name}"
        self.health = Health()
        self._every, self._settle = every, settle
        self._date_format = date_format
        self._zone, self._dates = time_zone(timezone), date_reader(date_format)
        self._looked_at: dict[Path, tuple[int | str, int, int, int]] = {}

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Does nothing, because the source brings all posts."""

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of the events after the cursor, in files that are there and in files that arrive."""
        done = _positions(cursor)
        while True:
            found = await asyncio.to_thread(self._files)
            done = await asyncio.to_thread(self._followed, found, done)
            idle = True
            for name, path in found.items():
                parts = self._new(path, done.get(name))
                while (part := await asyncio.to_thread(next, parts, None)) is not None:
                    events, done[name] = part
                    idle = False
                    for event in events:
                        self.health.count(event)
                    yield Burst(tuple(events), orjson.dumps(done).decode())
            if idle:
                await asyncio.sleep(self._every)

    def _files(self) -> dict[str, Path]:
        """The files by their names within the folder, those written longest ago first."""
        times: list[tuple[float, str, Path]] = []
        for path, _ in find_files(self._path):
            with suppress(FileNotFoundError):  # moved away meanwhile
                if path.suffix not in _UNFINISHED:
                    times.append((path.stat().st_mtime, path.relative_to(self._path).as_posix(), path))
        return {name: path for _, name, path in sorted(times)}

    def _followed(self, found: dict[str, Path], done: dict[str, Position]) -> dict[str, Position]:
        """The positions of known files under their current names; a new file has none."""
        here = set(found.values())
        self._looked_at = {path: seen for path, seen in self._looked_at.items() if path in here}
        kept = {
            name: position for name, position in done.items() if name in found and self._is_at(found[name], position)
        }
        moved = [position for name, position in done.items() if name not in kept]
        for name, path in found.items() if moved else ():
            if name not in kept:
                own = next((position for position in moved if self._is_at(path, position)), None)
                if own is not None:
                    kept[name] = own
                    moved.remove(own)
        return kept

    def _is_at(self, path: Path, position: Position) -> bool:
        """Whether a position belongs to this file. A file is checked again only when it has changed."""
        with suppress(FileNotFoundError):
            status = path.stat()
            now = (position[0], status.st_ino, status.st_size, status.st_mtime_ns)
            if self._looked_at.get(path) == now:
                return True
            if max(position[1:]) <= status.st_size and _begins(path, position[0]):
                self._looked_at[path] = now
                return True
        return False

    def _new(self, path: Path, before: Position | None) -> Iterator[Part]:
        """The events of a file after a position, in parts, each with the position after it."""
        with suppress(FileNotFoundError):
            status = path.stat()
            _, size, at = before or ("", -1, 0)
            settled = time.time() - status.st_mtime >= self._settle
            if size == status.st_size:
                return
            try:
                if _grows(path):
                    yield from self._lines(path, at, status.st_size, settled)
                elif settled:
                    yield from self._posts(path, at, status.st_size)
            except InputError:
                if settled:
                    self.health.reject(Skip(FOREIGN_FILE))
                    yield [], (_beginning(path, status.st_size), status.st_size, at)

    def _posts(self, path: Path, at: int, size: int) -> Iterator[Part]:
        """The posts of a finished file after the first `at`."""
        reader = read_posts(path, timezone=self._zone, date_format=self._date_format)
        known = _beginning(path, size)
        seen = 0
        for batch in reader.batches():
            fresh = batch.slice(max(at - seen, 0))
            seen += batch.num_rows
            for start in range(0, fresh.num_rows, BURST):
                rows = rows_of(fresh.slice(start, BURST))
                at += len(rows)
                yield [Received(row) for row in rows], (known, -1, at)
        self.health.bad.update(reader.report.bad)
        self.health.skipped.update(reader.report.skipped)
        yield [], (known, size, at)

    def _lines(self, path: Path, at: int, size: int, settled: bool) -> Iterator[Part]:
        """The events of the complete lines after `at` bytes; the last line of a finished file may lack a line feed."""
        with path.open("rb") as file:
            if at == 0 and file.read(len(BOM_UTF8)) == BOM_UTF8:
                at = len(BOM_UTF8)
            file.seek(at)
            held = b""
            while piece := file.read(CHUNK):
                whole, feed, held = (held + piece).rpartition(b"\n")
                if feed:
                    at += len(whole) + 1
                    yield self._events(whole.split(b"\n")), (_beginning(path, at), -1, at)
                elif len(held) > MAX_LINE:
                    at += len(held)
                    held = b""
                    self.health.reject(Bad(TOO_LONG))
            if held and settled and is_object(held):
                at += len(held)
                yield self._events([held]), (_beginning(path, at), at, at)
            elif at == size:
                yield [], (_beginning(path, at), size, at)

    def _events(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        for _, outcome in json_outcomes(enumerate(lines, 1), zone=self._zone, dates=self._dates):
            event = event_of(outcome)
            if isinstance(event, Skip | Bad):
                self.health.reject(event)
            else:
                events.append(event)
        return events


def _grows(path: Path) -> bool:
    """Whether a file holds unpacked JSON lines, which can be read while it grows."""
    with opened(path) as stream:
        packed = stream.packed
    return not packed and file_type(path) is FileType.LINES


def _beginning(path: Path, read: int) -> str:
    """The identity of a file: the number of its first bytes that were read, and their digest."""
    with path.open("rb") as file:
        head = file.read(min(read, _HEAD))
    return f"{len(head)}:{sha256(head).hexdigest()[:32]}"


def _begins(path: Path, known: int | str) -> bool:
    """Whether a file has the identity from a position."""
    if isinstance(known, int):
        return path.stat().st_ino == known
    return _beginning(path, int(known.partition(":")[0])) == known


def _positions(cursor: str | None) -> dict[str, Position]:
    try:
        return {name: (known, int(size), int(at)) for name, (known, size, at) in orjson.loads(cursor or "{}").items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise SettingError(f"cursor {cursor!r}: this is not the cursor of a folder") from error
