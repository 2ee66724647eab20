"""CSV → outcomes. A record is a row, which may span lines inside quotes; the header is not a record."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from datetime import tzinfo

from klda.posts.files import MAX_LINE, Line
from klda.posts.formats.generic import Columns, parse
from klda.posts.formats.outcome import Bad, Outcome, Skip
from klda.posts.formats.times import DateReader
from klda.posts.reasons import BROKEN_ROW, COLUMN_COUNT, INVALID_UTF8, KEEP_ALIVE


def csv_outcomes(
    lines: Iterator[Line],
    names: list[str],
    delimiter: str,
    columns: Columns,
    zone: tzinfo | None = None,
    dates: DateReader | None = None,
) -> Iterator[tuple[int, Outcome]]:
    """What becomes of each row below the header, with the number of its first line."""
    for number, record in csv_records(lines, names, delimiter):
        yield number, parse(record, columns, zone, dates) if isinstance(record, dict) else record


def csv_records(
    lines: Iterator[Line], names: list[str], delimiter: str
) -> Iterator[tuple[int, dict[str, str | None] | Bad | Skip]]:
    """Each row below the header with the number of its first line, or what is wrong with it.

    After a row that cannot be split, reading starts again at its second line, so that a stray quote costs one row.
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
    """Hands lines to the CSV reader and remembers those that the current row has taken."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._again: deque[Line] = deque()
        self.taken: list[Line] = []
        self._size = 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self._size > MAX_LINE:  # a row over too many lines: the reader finds it unfinished
            raise StopIteration
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        _, content = line
        if isinstance(content, Bad):
            return "\n"
        self._size += len(content) + 1
        return content.removesuffix(b"\r").decode("utf-8", "surrogateescape") + "\n"

    def begin(self) -> None:
        """A new row starts."""
        self.taken, self._size = [], 0

    @property
    def number(self) -> int:
        """The number of the row's first line."""
        return self.taken[0][0]

    def start_again(self) -> None:
        """Gives back all lines of the row but the first."""
        self._again.extendleft(reversed(self.taken[1:]))


def _problem(line: Line) -> Bad | None:
    """What is wrong with a line before it is split into cells."""
    _, content = line
    if isinstance(content, Bad):
        return content
    try:
        content.decode()
    except UnicodeDecodeError:
        return Bad(INVALID_UTF8)
    return None
