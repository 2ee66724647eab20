"""What kind of file it is: by content first, by the ending of its name where the content does not say."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import orjson
import pyarrow as pa

from klda.errors import InputError
from klda.posts.files import Line, lines, opened, unpacked
from klda.posts.formats.generic import Columns, Mapped, missing, resolve
from klda.posts.formats.times import DateReader
from klda.posts.parquet import parquet_columns

_HEAD = 1 << 16
_DELIMITERS = ",;\t"


class FileType(Enum):
    """How a file holds its records."""

    EMPTY = "empty"
    LINES = "JSON lines"
    VALUES = "JSON"
    CSV = "CSV"
    PARQUET = "Parquet"
    FRAME = "a frame in memory"


_ENDINGS = {
    ".csv": FileType.CSV,
    ".tsv": FileType.CSV,
    ".jsonl": FileType.LINES,
    ".ndjson": FileType.LINES,
    ".json": FileType.LINES,
    ".parquet": FileType.PARQUET,
}


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file and what it is; for tables also where each field of a post is kept."""

    path: Path
    size: int
    type: FileType | None
    columns: Columns | None = None
    frame: pa.Table | None = None
    dates: DateReader | None = None
    """How the frame writes its times, where it writes them as text."""


def recognised(path: Path, named: bool, mapping: Mapped = ()) -> FileSource:
    """What a file is. One that the user named must be known; one met in a folder may be foreign."""
    size, kind = path.stat().st_size, file_type(path, mapping)
    if kind is None and named:
        foreign = _columns(path)
        if foreign:
            raise no_column(path, foreign, mapping)
        raise InputError(f"{path}: neither JSON, CSV with a header, nor Parquet; convert it to one of these")
    names: list[str] | None = None
    if kind is FileType.CSV:
        with opened(path) as stream:
            names = header_of(lines(stream), mapping)[0]
    elif kind is FileType.PARQUET:
        with unpacked(path) as plain:
            names = parquet_columns(plain)
    if not names:  # not a table, or damaged before its header ends
        return FileSource(path, size, kind)
    columns = resolve(tuple(names), mapping)
    if missing(columns, names):
        raise no_column(path, names, mapping)
    return FileSource(path, size, kind, columns)


def no_column(path: Path, names: list[str], mapping: Mapped) -> InputError:
    """What is wrong with a table that lacks a column, and how to say which of the others it is."""
    columns = resolve(tuple(names), mapping)
    lacking = missing(columns, names)
    field, free = lacking[0], next((name for name in names if name not in columns and _may_hold(name)), "COLUMN")
    return InputError(
        f"{path}: no column for {', '.join(lacking)} among {', '.join(names)}; rename it, or say which it is "
        f'(--map {field}={free}, in Python mapping={{"{field}": "{free}"}})'
    )


def _may_hold(name: str) -> bool:
    """Whether a column could be text or time that goes by an unusual name: one of ids is neither."""
    words = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name.strip())
    return bool(name.strip()) and not {"id", "ids", "uri", "url"} & {word.lower() for word in words}


def _columns(path: Path) -> list[str]:
    """The column names of a file that looks like CSV, whatever they are; none where it does not."""
    with suppress(OSError), opened(path) as stream:
        rows = lines(stream)
        names, delimiter = header_of(rows)
        _, content = next(rows, (0, b""))
        telling = len(names) > 1 or bool(resolve(tuple(names), ()))  # one column may be text, or a file of prose
        if telling and isinstance(content, bytes) and all(name.isprintable() for name in names):
            return names if len(_cells(content, delimiter)) == len(names) else []
    return []


def file_type(path: Path, mapping: Mapped = ()) -> FileType | None:
    """The type of a file, packed or not; None when neither its content nor its name tells."""
    try:
        with opened(path) as stream:
            head = stream.read(_HEAD)
    except OSError:  # damaged from the start: the name is all there is
        head = b"\0"
    if not head:
        return FileType.EMPTY
    if head.startswith(b"PAR1"):
        return FileType.PARQUET
    start = [line for line in map(bytes.strip, head.removeprefix(b"\xef\xbb\xbf").split(b"\n")) if line]
    if not start:
        return FileType.LINES
    if _spans_lines(start):
        return FileType.VALUES
    names, _ = header(start[0], mapping)
    if not missing(resolve(tuple(names), mapping), names):
        return FileType.CSV
    if any(line.startswith((b"{", b"event:", b"data:")) for line in start):
        return FileType.LINES
    endings = [suffix.lower() for suffix in reversed(path.suffixes)]
    return next((_ENDINGS[ending] for ending in endings if ending in _ENDINGS), None)


def header(line: bytes, mapping: Mapped = ()) -> tuple[list[str], str]:
    """The column names in the first line of a CSV file, and the delimiter that makes most sense of them.

    >>> header(b"id;created_at;full_text")
    (['id', 'created_at', 'full_text'], ';')
    """
    splits = [(_cells(line, delimiter), delimiter) for delimiter in _DELIMITERS]

    def sense(split: tuple[list[str], str]) -> tuple[int, int]:
        names, _ = split
        return sum(name in names for name in resolve(tuple(names), mapping)), len(names)

    return max(splits, key=sense)


def _cells(line: bytes, delimiter: str) -> list[str]:
    """The cells of a line as CSV; none where it cannot be split, or one is too long to name a column."""
    text = line.decode("utf-8", "replace").replace("\r", " ")
    with suppress(csv.Error):
        return next(csv.reader([text], delimiter=delimiter), [])
    return []


def header_of(rows: Iterator[Line], mapping: Mapped = ()) -> tuple[list[str], str]:
    """Takes the header, the first line that is not blank, off the lines of a CSV file."""
    for _, content in rows:
        if isinstance(content, bytes) and content.strip():
            return header(content, mapping)
    return [], ","


def _spans_lines(start: list[bytes]) -> bool:
    """Whether these first lines belong to JSON that is laid out over lines, rather than to one value a line."""
    first, second = start[0], start[1] if len(start) > 1 else b""
    if first == b"{":  # pretty-printed; a cut-off line of JSON lines would be followed by a whole one
        return not second.startswith(b"{")
    return first.startswith(b"[") and (first == b"[" or not is_object(second))


def is_object(line: bytes) -> bool:
    """Whether a line is one whole JSON object."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False
