"""Time cut into windows of equal length, aligned and without gaps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from klda.errors import DataError, SettingError
from klda.posts.schema import microseconds
from klda.text.documents import Ints, Words
from klda.types import Window

_UNITS = {"w": timedelta(weeks=1), "d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}
_MONDAY = datetime(1970, 1, 5)  # by the wall clock, in whichever zone
_MOST = 100_000


def parse_length(length: str) -> timedelta:
    """The duration that a text such as `7d`, `1h` or `30m` names.

    >>> parse_length("7d"), parse_length("30m")
    (datetime.timedelta(days=7), datetime.timedelta(seconds=1800))
    """
    parts = re.fullmatch(r"\s*(\d+)\s*([wdhm])\s*", length)
    if parts is None or int(parts[1]) == 0:
        raise SettingError(f"window length {length!r}: give a number and a unit, as in 7d, 1d, 6h or 30m")
    try:
        return int(parts[1]) * _UNITS[parts[2]]
    except OverflowError as error:
        raise SettingError(f"window length {length!r} is longer than time itself; as in 7d, 1d, 6h or 30m") from error


@dataclass(frozen=True)
class Windowing:
    """Windows of one length, one of which starts at `align`.

    Windows of whole days start at that time of day in `zone`. When clocks change, one lasts 23 or 25 hours. Shorter
    windows always have the same length. Without `align`, weeks start on Monday at midnight.

    >>> week = Windowing("7d")
    >>> windows, index = week.assign(np.array([microseconds(datetime(2026, 1, day, tzinfo=UTC)) for day in (7, 4, 20)]))
    >>> [str(window) for window in windows], index.tolist()
    (['2025-12-29', '2026-01-05', '2026-01-12', '2026-01-19'], [1, 0, 3])
    """

    length: str = "7d"
    zone: str = "UTC"
    align: datetime | None = None

    def __post_init__(self) -> None:
        parse_length(self.length)
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise SettingError(f"time zone {self.zone!r} is not known; give a name such as Europe/Berlin") from error

    @cached_property
    def _step(self) -> timedelta:
        return parse_length(self.length)

    @cached_property
    def _anchor(self) -> datetime:
        """A start by the wall clock, without a zone."""
        if self.align is None:
            return _MONDAY
        local = self.align.astimezone(ZoneInfo(self.zone)) if self.align.tzinfo else self.align
        return local.replace(tzinfo=None)

    def _start(self, number: int) -> datetime:
        """When a window starts, in UTC; window 0 starts at the anchor."""
        zone = ZoneInfo(self.zone)
        if self._step % timedelta(days=1):
            return self._anchor.replace(tzinfo=zone).astimezone(UTC) + number * self._step
        return (self._anchor + number * self._step).replace(tzinfo=zone).astimezone(UTC)

    def _number(self, time: datetime) -> int:
        """The number of the window that holds this instant."""
        number = int((time - self._anchor.replace(tzinfo=ZoneInfo(self.zone)).astimezone(UTC)) // self._step)
        while self._start(number) > time:  # the clocks may have been changed since the anchor
            number -= 1
        while self._start(number + 1) <= time:
            number += 1
        return number

    def holding(self, time: datetime) -> Window:
        """The window that holds this instant."""
        number = self._number(time.astimezone(UTC))
        return Window(self._start(number), self._start(number + 1))

    def assign(self, times: Ints) -> tuple[tuple[Window, ...], Words]:
        """The windows from the first time to the last, empty ones included, and the window of each time.

        `times` are microseconds since 1970 in UTC, in any order.
        """
        if not len(times):
            return (), np.zeros(0, dtype=np.int32)
        try:
            earliest, latest = _instant(int(times.min())), _instant(int(times.max()))
            first, last = self._number(earliest), self._number(latest)
            if last - first >= _MOST:
                raise DataError(
                    f"posts from {earliest} to {latest} would make {last - first + 1:,} windows of {self.length}; "
                    "drop stray times or choose a longer window"
                )
            starts = [self._start(number) for number in range(first, last + 2)]
        except OverflowError as error:
            raise DataError(f"windows of {self.length} reach beyond the calendar; choose a shorter window") from error
        windows = tuple(Window(start, end) for start, end in pairwise(starts))
        edges = np.array([microseconds(start) for start in starts], dtype=np.int64)
        return windows, (np.searchsorted(edges, times, side="right") - 1).astype(np.int32)


def _instant(time: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
