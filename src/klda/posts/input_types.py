"""Inputs of the reader: files, whose type is found by content and then by name; and frames in memory."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from pathlib import Path
from typing import Protocol, runtime_checkable

import orjson
import pyarrow as pa

from klda.errors import InputError
from klda.posts.columnar import TABLE_ROWS, column_dates, flat, parquet_columns
from klda.posts.files import Line, lines, opened, unpacked
from klda.posts.formats.generic import Columns, Mapped, missing, resolve
from klda.posts.formats.outcome import TIME_WITHOUT_ZONE, Bad
from klda.posts.formats.times import DateReader, parse_time

_HEAD = 1 << 16
_DELIMITERS = ",;\t"


class FileType(Enum):
    """How an input holds its records."""

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
class PostInput:
    """A file or frame to read: its type, and for tables the column of each field of a post."""

    path: Path
    size: int
    type: FileType | None
    columns: Columns | None = None
    frame: pa.Table | None = None
    dates: DateReader | None = None
    """The reader of the times of a frame, where they are text."""


def file_input(path: Path, named: bool, mapping: Mapped = ()) -> PostInput:
    """The type and columns of a file. InputError for an unknown file that the user named; in a folder it is skipped."""
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
    if not names:  # not a table, or its header is damaged
        return PostInput(path, size, kind)
    columns = resolve(tuple(names), mapping)
    if missing(columns, names):
        raise no_column(path, names, mapping)
    return PostInput(path, size, kind, columns)


def no_column(path: Path, names: list[str], mapping: Mapped) -> InputError:
    """The error for a table without a needed column; it shows how to map one of the other columns."""
    columns = resolve(tuple(names), mapping)
    lacking = missing(columns, names)
    field, free = lacking[0], next((name for name in names if name not in columns and _may_hold(name)), "COLUMN")
    return InputError(
        f"{path}: no column for {', '.join(lacking)} among {', '.join(names)}; rename it, or say which it is "
        f'(--map {field}={free}, in Python mapping={{"{field}": "{free}"}})'
    )


def _may_hold(name: str) -> bool:
    """Whether a column with an unusual name may hold text or time; a column of ids holds neither."""
    words = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name.strip())
    return bool(name.strip()) and not {"id", "ids", "uri", "url"} & {word.lower() for word in words}


def _columns(path: Path) -> list[str]:
    """The column names of a file that looks like CSV; empty for other files."""
    with suppress(OSError), opened(path) as stream:
        rows = lines(stream)
        names, delimiter = header_of(rows)
        _, content = next(rows, (0, b""))
        telling = len(names) > 1 or bool(resolve(tuple(names), ()))  # a single unknown column may be prose
        if telling and isinstance(content, bytes) and all(name.isprintable() for name in names):
            return names if len(_cells(content, delimiter)) == len(names) else []
    return []


def file_type(path: Path, mapping: Mapped = ()) -> FileType | None:
    """The type of a file, packed or not; None when neither content nor name shows it."""
    try:
        with opened(path) as stream:
            head = stream.read(_HEAD)
    except OSError:  # damaged from the start, so only the name is left
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
    """The column names in the first line of a CSV file, and the delimiter that gives the most known names.

    >>> header(b"id;created_at;full_text")
    (['id', 'created_at', 'full_text'], ';')
    """
    splits = [(_cells(line, delimiter), delimiter) for delimiter in _DELIMITERS]

    def sense(split: tuple[list[str], str]) -> tuple[int, int]:
        names, _ = split
        return sum(name in names for name in resolve(tuple(names), mapping)), len(names)

    return max(splits, key=sense)


def _cells(line: bytes, delimiter: str) -> list[str]:
    """The cells of a CSV line; empty where it cannot be split or a cell is too long."""
    text = line.decode("utf-8", "replace").replace("\r", " ")
    with suppress(csv.Error):
        return next(csv.reader([text], delimiter=delimiter), [])
    return []


def header_of(rows: Iterator[Line], mapping: Mapped = ()) -> tuple[list[str], str]:
    """The column names and the delimiter from the first line that is not blank; it is removed from `rows`."""
    for _, content in rows:
        if isinstance(content, bytes) and content.strip():
            return header(content, mapping)
    return [], ","


def _spans_lines(start: list[bytes]) -> bool:
    """Whether these first lines are JSON values that span lines, not one value per line."""
    first, second = start[0], start[1] if len(start) > 1 else b""
    if first == b"{":  # pretty-printed; in JSON lines, a whole object would follow a line that was cut off
        return not second.startswith(b"{")
    return first.startswith(b"[") and (first == b"[" or not is_object(second))


def is_object(line: bytes) -> bool:
    """Whether a line is one whole JSON object."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


FRAME = Path("the frame")
"""What errors call the frame in place of a file name."""


@runtime_checkable
class Frame(Protocol):
    """A table with Arrow's stream protocol, such as a frame of pandas, Polars or Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""


def frame_input(
    frame: Frame, mapping: Mapped = (), zone: tzinfo | None = None, dates: DateReader | None = None
) -> PostInput:
    """The input for a frame; its columns are found by their usual names or by the mapping.

    InputError where times have no zone and `zone` is not given: otherwise all rows of the frame would be bad.
    """
    try:
        table = flat(pa.table(frame))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{FRAME} cannot be read ({error}); give each of its columns one type") from error
    columns = resolve(tuple(table.column_names), mapping)
    if missing(columns, table.column_names):
        raise no_column(FRAME, table.column_names, mapping)
    assert columns.time is not None, "a column for the time is there"
    dates = dates or column_dates(table.column(columns.time), f"{FRAME}, column {columns.time!r}")
    if zone is None and _without_zone(table.column(columns.time), dates):
        raise InputError(
            f'{FRAME}: the times in column {columns.time!r} have no zone; say which it is, as in timezone="UTC"'
        )
    return PostInput(FRAME, table.num_rows, FileType.FRAME, columns, table, dates)


def _without_zone(times: pa.ChunkedArray, dates: DateReader | None) -> bool:
    """Whether the first time in a column has no zone."""
    first = next((value for value in times if value.is_valid), None)
    if first is None:
        return False
    if pa.types.is_timestamp(first.type):
        return first.type.tz is None
    found = parse_time(first.as_py(), dates=dates)
    return isinstance(found, Bad) and found.reason == TIME_WITHOUT_ZONE


def frame_batches(table: pa.Table, columns: Columns) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Batches of the needed columns, each with the share of the frame read so far."""
    done = 0
    wanted = table.select(sorted({name for name in columns if name is not None}))
    for batch in wanted.to_batches(max_chunksize=TABLE_ROWS):
        done += batch.num_rows
        yield done / table.num_rows, batch
