"""The report on reading: how many records were posts, bad, skipped or duplicates, with examples of bad ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from klda.errors import InputError
from klda.posts.formats.outcome import HINTS, Bad

MAX_EXAMPLES = 100
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read: its file and line, the reason, and what to do."""

    file: str
    line: int
    reason: str
    hint: str
    field: str | None = None
    value: str | None = None
    """The beginning of the bad value."""

    def __str__(self) -> str:
        field = f" in field {self.field!r}" if self.field else ""
        value = f" ({self.value})" if self.value else ""
        return f"{self.file}, line {self.line}: {self.reason}{field}{value}; {self.hint}"


@dataclass(frozen=True, slots=True)
class ReadReport:
    """How many records were read, and how many of them were posts.

    A line is a record: a line of JSON, a row of CSV (without the header) or Parquet, an element of a JSON array, a
    tweet in a page of X's API. Every record is counted: lines = posts + bad + skipped + duplicates + reposts_dropped.

    >>> report = ReadReport(lines=3, posts=2, bad={"no text": 1})
    >>> report.accounted == report.lines
    True
    """

    lines: int = 0
    posts: int = 0
    bad: Mapping[str, int] = field(default_factory=dict)
    """Records that should have been posts and could not be read, by reason."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Records that are no posts, and posts that are not wanted, by reason."""
    duplicates: int = 0
    reposts_dropped: int = 0
    examples: tuple[BadRecord, ...] = ()
    """The first bad records."""

    @property
    def accounted(self) -> int:
        """The sum of all counts but `lines`."""
        seen = self.posts + self.duplicates + self.reposts_dropped
        return seen + sum(self.bad.values()) + sum(self.skipped.values())


def combined(reports: Iterable[ReadReport], duplicates: int = 0) -> ReadReport:
    """One report for several; `duplicates` counts the posts that occur in more than one of them.

    >>> combined([ReadReport(lines=2, posts=2), ReadReport(lines=1, bad={"no text": 1})], duplicates=1).posts
    1
    """
    parts = list(reports)
    return ReadReport(
        lines=sum(part.lines for part in parts),
        posts=sum(part.posts for part in parts) - duplicates,
        bad=dict(sum((Counter(part.bad) for part in parts), Counter()).most_common()),
        skipped=dict(sum((Counter(part.skipped) for part in parts), Counter()).most_common()),
        duplicates=sum(part.duplicates for part in parts) + duplicates,
        reposts_dropped=sum(part.reposts_dropped for part in parts),
        examples=tuple(example for part in parts for example in part.examples)[:MAX_EXAMPLES],
    )


class ReadLog:
    """The running counts behind a `ReadReport`."""

    def __init__(self, strict: bool = False) -> None:
        self.lines = self.posts = self.duplicates = self.reposts_dropped = 0
        self.skipped: Counter[str] = Counter()
        self._bad: Counter[str] = Counter()
        self._examples: list[BadRecord] = []
        self._strict = strict

    def reject(self, path: Path, line: int, bad: Bad) -> None:
        """Counts a bad record; in strict mode raises InputError."""
        self._bad[bad.reason] += 1
        if len(self._examples) < MAX_EXAMPLES or self._strict:
            example = BadRecord(str(path), line, bad.reason, HINTS[bad.reason], bad.field, _shown(bad.value))
            self._examples.append(example)
            if self._strict:
                raise InputError(str(example))

    def snapshot(self) -> ReadReport:
        """The report on the counts so far."""
        return ReadReport(
            lines=self.lines,
            posts=self.posts,
            bad=MappingProxyType(dict(self._bad.most_common())),
            skipped=MappingProxyType(dict(self.skipped.most_common())),
            duplicates=self.duplicates,
            reposts_dropped=self.reposts_dropped,
            examples=tuple(self._examples),
        )


def _shown(value: object) -> str | None:
    """The beginning of a value, short enough for a message; None for no value."""
    if value is None:
        return None
    text = str(value) if isinstance(value, Exception) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
