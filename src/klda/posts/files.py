"""Files as bytes: finding files, unpacking them, and splitting them into lines or JSON values of limited length."""

from __future__ import annotations

import codecs
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from klda.errors import InputError
from klda.posts.formats.outcome import DAMAGED, TOO_LONG, Bad

MAX_LINE = 10_000_000
CHUNK = 1 << 18

PathLike: TypeAlias = str | os.PathLike[str]
Line: TypeAlias = tuple[int, bytes | Bad]
"""A line or a JSON value: its number, and its bytes or the problem with it."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


class Stream:
    """The unpacked bytes of a file. `position` counts the bytes read from the disk."""

    def __init__(self, path: Path) -> None:
        self._file: Any = pa.OSFile(str(path), "rb")
        magic = self._file.read(4)
        self._file.seek(0)
        packing = next((name for start, name in _PACKED.items() if magic.startswith(start)), None)
        self._unpacked: Any = pa.CompressedInputStream(self._file, packing) if packing else self._file
        self.packed = packing is not None

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; empty at the end. OSError when the file is damaged."""
        piece: bytes = self._unpacked.read(size)
        return piece

    @property
    def position(self) -> int:
        """How many bytes were read from the disk, before unpacking."""
        return int(self._file.tell())

    def close(self) -> None:
        """Closes the file."""
        if not self._file.closed:
            self._file.close()


def find_files(paths: PathLike | Iterable[PathLike]) -> list[tuple[Path, bool]]:
    """All files in these paths, sorted within a folder; True marks a file that was given itself, not by its folder."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise InputError("no file to read; name at least one file or folder")
    found: dict[Path, bool] = {}
    for path in map(Path, given):
        if path.is_dir():
            for inner in sorted(path.rglob("*")):
                hidden = any(part.startswith(".") for part in inner.relative_to(path).parts)
                if inner.is_file() and not hidden:
                    found.setdefault(inner, False)
        elif path.is_file():
            found[path] = True
        else:
            raise InputError(f"{path}: there is no such file or folder; check the path")
    return list(found.items())


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """The unpacked bytes of a file. Gzip and Zstandard are recognised by their first bytes, not by the file name."""
    try:
        stream = Stream(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error}); check its permissions") from error
    try:
        yield stream
    finally:
        stream.close()


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A path to the unpacked file, for formats that are read from the end. For a packed file it is a temporary copy."""
    with opened(path) as stream:
        if not stream.packed:
            yield path
            return
        with tempfile.NamedTemporaryFile(prefix="klda-") as copy:
            with suppress(OSError):  # the file is cut off; reading its copy reports the damage
                while piece := stream.read(CHUNK):
                    copy.write(piece)
            copy.flush()
            yield Path(copy.name)


def lines(stream: Stream) -> Iterator[Line]:
    """The lines of a stream, without line feeds. A line over 10 MB is skipped and not kept in memory."""
    number, tail, too_long = 0, b"", False
    try:
        piece = stream.read(CHUNK).removeprefix(codecs.BOM_UTF8)
        while piece:
            *whole, tail = (tail + piece).split(b"\n")
            for content in whole:
                number += 1
                yield number, Bad(TOO_LONG) if too_long or len(content) > MAX_LINE else content
                too_long = False
            if too_long or len(tail) > MAX_LINE:
                tail, too_long = b"", True
            piece = stream.read(CHUNK)
    except OSError as error:
        yield number + 1, Bad(DAMAGED, value=error)
        return
    if tail or too_long:
        yield number + 1, Bad(TOO_LONG) if too_long else tail


def json_values(stream: Stream) -> Iterator[Line]:
    """The values of JSON that spans lines: the elements of an array, or objects one after another.

    The number is that of the value, not of the line. After a value that is broken or over 10 MB, the rest of the file
    is not read: without line ends there is no place from which to start again.
    """
    decode = codecs.getincrementaldecoder("utf-8-sig")(errors="surrogateescape").decode
    text, at, number, depth, ended = "", 0, 0, 0, False
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # the pattern also matches the empty string
        if text[at : at + 1] == "]" or (text[at : at + 1] == "[" and depth == 0):
            depth += 1 if text[at] == "[" else -1
            at += 1
            continue
        end = _end_of_value(text, at)
        # A value at the end of the bytes read so far may continue: 12 may become 123.
        if end is not None and (end < len(text) or ended):
            number += 1
            yield number, text[at:end].encode("utf-8", "surrogateescape")
            at = end
            continue
        if ended or len(text) - at > MAX_LINE:
            break
        try:
            piece = stream.read(max(CHUNK, len(text) - at))  # doubling limits the number of attempts at a long value
        except OSError as error:
            yield number + 1, Bad(DAMAGED, value=error)
            return
        ended = not piece
        text, at = text[at:] + decode(piece, ended), 0
    if at < len(text) or depth:
        yield number + 1, Bad(DAMAGED, value=text[at : at + 100] or "no closing bracket")


def _end_of_value(text: str, at: int) -> int | None:
    """The end of the JSON value that starts at `at`; None when it is broken or cut off."""
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None
