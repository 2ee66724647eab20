"""A folder whose files are read as they arrive: whole files of any format, and JSON lines while they grow.

Lines are taken when they are complete, with their line feed. Files of other formats are taken when they have not
changed for a moment; renaming a finished file into the folder is the safest way. Names that begin with a dot or end in
`.tmp`, `.part` or `.partial` are left alone. The cursor holds, for each file in the folder, how far it was read. A file
is known by how it begins, so that one that was renamed, or written anew with more at its end, is not read twice. What
lines of a platform delete or edit is followed; of files that are read whole only their posts are taken.
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
from klda.posts.input_types import FileType, file_type, is_object
from klda.posts.parsing import json_outcomes
from klda.posts.reader import read_posts
from klda.streams.protocol import Burst, Event, Health, Received, event_of
from klda.streams.replay import BURST, rows_of
from klda.types import KeywordSet

CHUNK = 1 << 20
"""Bytes of a growing file that are read at a time."""
_UNFINISHED = (".tmp", ".part", ".partial")
_HEAD = 4096  # bytes at its beginning by which a file is known

Position = tuple[int | str, int, int]
"""Of a file: how it begins (earlier cursors: its inode), the size that was read to the end (-1 before), and how far it
was read: bytes of a file of lines, posts of any other."""
Part = tuple[list[Event], Position]


class Folder:
    """The posts in a folder and in what arrives there, for ever.

    every: seconds between two looks. settle: seconds without change before a file counts as finished.
    """

    replayable = True
    unfiltered = True

    def __init__(self, path: Path, *, every: float = 1.0, settle: float = 2.0) -> None:
        self._path = Path(path)
        if not self._path.is_dir():
            raise SettingError(f"{path}: there is no such folder; make it first")
        self.name = f"folder {self._path.name}"
        self.health = Health()
        self._every, self._settle = every, settle
        self._looked_at: dict[Path, tuple[int | str, int, int, int]] = {}

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Does nothing: everything arrives anyway."""

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields what the folder holds beyond the cursor, and what comes."""
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
        """The files by their names within the folder, in the order in which they were last written."""
        times: list[tuple[float, str, Path]] = []
        for path, _ in find_files(self._path):
            with suppress(FileNotFoundError):  # moved away in this moment
                if path.suffix not in _UNFINISHED:
                    times.append((path.stat().st_mtime, path.relative_to(self._path).as_posix(), path))
        return {name: path for _, name, path in sorted(times)}

    def _followed(self, found: dict[str, Path], done: dict[str, Position]) -> dict[str, Position]:
        """The positions under the names that their files have by now; a new file has none."""
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
        """Whether a file is the one that a position is of; looked at again when it has changed."""
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
        """What a file holds beyond a position, in parts, each with the position after it."""
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
        reader = read_posts(path)
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
        """The complete lines of a file after `at` bytes; the last may lack its line feed once it is settled."""
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
        for _, outcome in json_outcomes(enumerate(lines, 1)):
            event = event_of(outcome)
            if isinstance(event, Skip | Bad):
                self.health.reject(event)
            else:
                events.append(event)
        return events


def _grows(path: Path) -> bool:
    """Whether a file consists of plain lines, which can be taken while it grows."""
    with opened(path) as stream:
        packed = stream.packed
    return not packed and file_type(path) is FileType.LINES


def _beginning(path: Path, read: int) -> str:
    """How a file begins, as far as it was read: of how many bytes, and their digest."""
    with path.open("rb") as file:
        head = file.read(min(read, _HEAD))
    return f"{len(head)}:{sha256(head).hexdigest()[:32]}"


def _begins(path: Path, known: int | str) -> bool:
    """Whether a file is the one that a position is of."""
    if isinstance(known, int):
        return path.stat().st_ino == known
    return _beginning(path, int(known.partition(":")[0])) == known


def _positions(cursor: str | None) -> dict[str, Position]:
    try:
        return {name: (known, int(size), int(at)) for name, (known, size, at) in orjson.loads(cursor or "{}").items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise SettingError(f"cursor {cursor!r}: not one of a folder") from error
