"""Records → outcomes: JSON of any platform, for files and live streams alike; and rows of CSV files.

In CSV, a record is a row, and a row may span lines inside quotes. The header is not a record.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import tzinfo

import orjson

from klda.posts.files import MAX_LINE, Line
from klda.posts.formats import bluesky, generic, mastodon, x_v1, x_v2
from klda.posts.formats.generic import Columns, Mapped, parse
from klda.posts.formats.outcome import (
    BROKEN_JSON,
    BROKEN_ROW,
    COLUMN_COUNT,
    INVALID_UTF8,
    KEEP_ALIVE,
    NOT_AN_OBJECT,
    NUL_BYTES,
    Bad,
    Outcome,
    Skip,
)
from klda.posts.formats.times import DateReader


def parse_record(
    record: object, mapping: generic.Mapped = (), zone: tzinfo | None = None, dates: DateReader | None = None
) -> Iterable[Outcome]:
    """The outcomes of a decoded record of any platform: one, or for a page of X v2 one for each tweet.

    With a mapping, the record is always read as plain columns, even when it looks like a platform's format.

    >>> [row] = parse_record({"id": 1, "time": "2026-01-05T10:00:00Z", "body": "Hello"})
    >>> row.id, row.text
    ('1', 'Hello')
    """
    if not isinstance(record, dict):
        return (Bad(NOT_AN_OBJECT, value=record),)
    if mapping:
        record = generic.with_nested(record, mapping)
    else:
        # Cheap checks first. Each platform has a key that the others lack.
        if bluesky.recognises(record):
            return (bluesky.parse(record),)
        if mastodon.recognises_envelope(record):
            return (mastodon.parse_envelope(record),)
        if x_v2.recognises_envelope(record):
            return x_v2.parse_envelope(record)
        if mastodon.recognises(record):
            return (mastodon.parse(record),)
        if x_v1.recognises(record):
            return (x_v1.parse(record),)
        if x_v2.recognises(record):
            return (x_v2.parse(record),)
    columns = generic.resolve(tuple(record), mapping)
    return (generic.parse(record, columns, zone, dates),)


_FIELDS = (b"event:", b"id:", b"retry:", b":")


def json_outcomes(
    lines: Iterable[Line], mapping: Mapped = (), zone: tzinfo | None = None, dates: DateReader | None = None
) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of JSON lines and server-sent events, each with its line number; a line may hold several records.

    >>> [outcome.reason for _, outcome in json_outcomes([(1, b""), (2, b"[]"), (3, b"{")])]
    ['keep-alive', 'not an object', 'broken JSON']
    """
    event = b""
    for number, content in lines:
        if isinstance(content, Bad):
            yield number, content
            continue
        try:
            record = orjson.loads(content)
        except orjson.JSONDecodeError:
            line = content.strip()
            if not line or line.startswith(_FIELDS):
                if not line or line.startswith(b"event:"):  # a blank line ends an event
                    event = line[6:].strip()
                yield number, Skip(KEEP_ALIVE)
            elif line.startswith(b"data:"):
                found = _event_data(event, line[5:].strip(), mapping, zone, dates)
                yield from ((number, outcome) for outcome in found)
            else:
                yield number, Bad(_why_broken(content), value=content)
            continue
        for outcome in parse_record(record, mapping, zone, dates):
            yield number, outcome


def _event_data(
    event: bytes, data: bytes, mapping: Mapped, zone: tzinfo | None, dates: DateReader | None
) -> Iterable[Outcome]:
    """The outcomes of the data line of a server-sent event."""
    if event not in (b"", b"update", b"message"):
        return parse_record({"event": event.decode("utf-8", "replace"), "payload": data.decode("utf-8", "replace")})
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError:
        return (Bad(_why_broken(data), value=data),)
    return parse_record(record, mapping, zone, dates)


def _why_broken(content: bytes) -> str:
    if b"\0" in content:
        return NUL_BYTES
    try:
        content.decode()
    except UnicodeDecodeError:
        return INVALID_UTF8
    return BROKEN_JSON


def csv_outcomes(
    lines: Iterator[Line],
    names: list[str],
    delimiter: str,
    columns: Columns,
    zone: tzinfo | None = None,
    dates: DateReader | None = None,
) -> Iterator[tuple[int, Outcome]]:
    """The outcome of each row below the header, with the number of its first line."""
    for number, record in csv_records(lines, names, delimiter):
        yield number, parse(record, columns, zone, dates) if isinstance(record, dict) else record


def csv_records(
    lines: Iterator[Line], names: list[str], delimiter: str
) -> Iterator[tuple[int, dict[str, str | None] | Bad | Skip]]:
    """Each row below the header, or its problem, with the number of its first line.

    After a row that cannot be split, reading starts again at its second line. So a stray quote costs one row only.
    """
    feed = _Feed(lines)
    rows = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.begin()
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield feed.number, _problem(feed.taken[0]) or Bad(BROKEN_ROW)
            feed.start_again()
            continue
        problem = next(filter(None, map(_problem, feed.taken)), None)
        if problem is not None:
            yield feed.number, problem
        elif not cells:
            yield feed.number, Skip(KEEP_ALIVE)
        elif len(cells) != len(names):
            yield feed.number, Bad(COLUMN_COUNT)
        else:
            yield feed.number, {name: cell or None for name, cell in zip(names, cells, strict=True)}


class _Feed:
    """Passes lines to the CSV reader, and keeps the lines of the current row."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._again: deque[Line] = deque()
        self.taken: list[Line] = []
        self._size = 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self._size > MAX_LINE:  # the row is too long: the CSV reader will report it as unfinished
            raise StopIteration
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        _, content = line
        if isinstance(content, Bad):
            return "\n"
        self._size += len(content) + 1
        return content.removesuffix(b"\r").decode("utf-8", "surrogateescape") + "\n"

    def begin(self) -> None:
        """Starts a new row."""
        self.taken, self._size = [], 0

    @property
    def number(self) -> int:
        """The number of the first line of the row."""
        return self.taken[0][0]

    def start_again(self) -> None:
        """Puts back all lines of the row but the first."""
        self._again.extendleft(reversed(self.taken[1:]))


def _problem(line: Line) -> Bad | None:
    """The problem with a line, found before it is split into cells; None where it has none."""
    _, content = line
    if isinstance(content, Bad):
        return content
    try:
        content.decode()
    except UnicodeDecodeError:
        return Bad(INVALID_UTF8)
    return None
