"""Times as platforms and spreadsheets write them → microseconds since 1970 in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from functools import partial
from zoneinfo import ZoneInfo

from klda.errors import InputError, SettingError
from klda.posts.formats.outcome import NO_TIME, TIME_OUT_OF_RANGE, TIME_WITHOUT_ZONE, UNREADABLE_TIME, Bad

EARLIEST = -2_208_988_800_000_000  # 1900-01-01
LATEST = 7_258_118_400_000_000  # 2200-01-01

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MONTHS = {"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6}
_MONTHS |= {"Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12}
_TIME_OF_DAY = (
    r"(?:,?[ T]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?\s*([AaPp][Mm])?\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_SPREADSHEET = re.compile(r"(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})" + _TIME_OF_DAY)
_MOST_MONTHS = 12

DateReader = Callable[[str], datetime | int]
"""Reads a time from text: gives a date, perhaps without a zone, or microseconds since 1970."""


def parse_time(value: object, zone: tzinfo | None = None, dates: DateReader | None = None) -> int | Bad:
    """Microseconds since 1970 in UTC, or `Bad` with the reason; `zone` applies to times without a zone.

    `dates` reads the text of files with a date format of their own (see `date_reader` and `reader_of`).

    The known formats are ISO 8601, X's `Wed Oct 10 20:19:24 +0000 2018`, RFC 2822, and numbers since 1970 in UTC. The
    size of a number shows whether it is in seconds, milliseconds, microseconds or nanoseconds.

    >>> parse_time("Wed Oct 10 20:19:24 +0000 2018") == parse_time("2018-10-10T22:19:24+02:00")
    True
    >>> parse_time("2018-10-10 20:19:24").reason
    'time without zone'
    """
    if value is None or value == "":
        return Bad(NO_TIME, "time")
    try:
        moment = _moment(value, dates or _from_text)
    except (ValueError, OverflowError, KeyError, TypeError, IndexError):
        return Bad(UNREADABLE_TIME, "time", value)
    if isinstance(moment, datetime):
        if moment.utcoffset() is None:
            if zone is None:
                return Bad(TIME_WITHOUT_ZONE, "time", value)
            moment = moment.replace(tzinfo=zone)
        try:
            moment = (moment - _EPOCH) // _MICROSECOND
        except OverflowError:
            return Bad(TIME_OUT_OF_RANGE, "time", value)
    return moment if EARLIEST <= moment < LATEST else Bad(TIME_OUT_OF_RANGE, "time", value)


def time_zone(timezone: str | tzinfo | None) -> tzinfo | None:
    """The time zone of a name such as Europe/Berlin; a zone or None stays as it is.

    >>> time_zone("Europe/Berlin").key
    'Europe/Berlin'
    """
    if not isinstance(timezone, str):
        return timezone
    try:
        return ZoneInfo(timezone)
    except (ValueError, OSError, KeyError) as error:
        raise SettingError(f"timezone={timezone!r} is not known; use a name such as Europe/Berlin or UTC") from error


def date_reader(date_format: str | None) -> DateReader | None:
    """The reader of times in a format as for `strptime`, such as `%d/%m/%Y %H:%M`; None without a format.

    >>> reader = date_reader("%d/%m/%Y %H:%M")
    >>> reader("5/1/2026 10:00").isoformat()
    '2026-01-05T10:00:00'
    """
    if date_format is None:
        return None
    example = datetime(2026, 1, 25, 13, 5, 9, tzinfo=UTC)
    try:
        known = "%y" in date_format.lower() and _by_format(example.strftime(date_format), date_format)
    except (ValueError, re.error):
        known = False
    if not known or known.date() != example.date():
        raise SettingError(
            f"date_format={date_format!r} does not give year, month and day; write it like %d/%m/%Y %H:%M "
            "(--date-format, in Python date_format=)"
        )
    return partial(_by_format, date_format=date_format)


def _by_format(text: str, date_format: str) -> datetime:
    return datetime.strptime(text.strip(), date_format)


def reader_of(values: Iterable[object], where: str) -> DateReader | None:
    """The reader of dates as spreadsheets write them; None for a file with dates in the usual formats.

    The first number above 12 shows for the whole file whether the day or the month comes first. With dots, as in
    05.01.2026, the day comes first. If no number is above 12, InputError names the file and the option to set.

    >>> reader_of(["01/02/2026", "01/13/2026"], "posts.csv")("01/02/2026 3:15 PM").isoformat()
    '2026-01-02T15:15:00'
    >>> reader_of(["2026-01-05T10:00:00Z"], "posts.csv") is None
    True
    """
    example = None
    for value in values:
        parts = _SPREADSHEET.fullmatch(value.strip()) if isinstance(value, str) else None
        if parts is None or parts[2] == "." or len(parts[1]) > 2:
            if value in (None, ""):
                continue
            if example is None:  # all dates of a file have one format
                return None
            continue
        example = example or str(value).strip()
        if int(parts[1]) > _MOST_MONTHS:
            return day_first
        if int(parts[3]) > _MOST_MONTHS:
            return month_first
    if example is None:
        return None
    first, second = (_format_of(example, order) for order in ("dm", "md"))
    raise InputError(
        f"{where}: dates such as {example!r} may begin with the day or the month, and no number above 12 shows which; "
        f'add --date-format "{first}" if the day comes first, "{second}" if the month does (in Python date_format=)'
    )


def day_first(text: str) -> datetime | int:
    """The time in a text with the day before the month; other texts are read in the usual formats."""
    return _from_spreadsheet(text, 1, 3) or _from_text(text)


def month_first(text: str) -> datetime | int:
    """The time in a text with the month before the day; other texts are read in the usual formats."""
    return _from_spreadsheet(text, 3, 1) or _from_text(text)


def _from_spreadsheet(text: str, day: int, month: int) -> datetime | None:
    """The time in a text such as 05/01/2026 10:00; `day` and `month` are the groups that hold them."""
    parts = _SPREADSHEET.fullmatch(text.strip())
    if parts is None:
        return None
    year = 4
    if len(parts[1]) == 4:  # the year comes first, so the order is clear
        year, month, day = 1, 3, 4
    elif parts[2] == ".":
        day, month = 1, 3
    if len(parts[year]) not in (2, 4):
        raise ValueError
    full_year = int(parts[year]) + (2000 if len(parts[year]) == 2 else 0)
    hour = int(parts[5] or 0)
    if parts[9]:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if parts[9].lower() == "pm" else 0)
    moment = datetime(
        full_year,
        int(parts[month]),
        int(parts[day]),
        hour,
        int(parts[6] or 0),
        int(parts[7] or 0),
        int((parts[8] or "0").ljust(6, "0")),
    )
    zone = parts[10]
    if zone:
        moment = moment.replace(
            tzinfo=UTC if zone in ("Z", "UTC") else datetime.fromisoformat(f"2026-01-01T00{zone}").tzinfo
        )
    return moment


def _format_of(example: str, order: str) -> str:
    """The format, as for `strptime`, of a date with day and month in this order."""
    parts = _SPREADSHEET.fullmatch(example)
    assert parts is not None
    names = [f"%{letter}" for letter in order]
    found = parts[2].join([*names, "%Y" if len(parts[4]) == 4 else "%y"])
    time = example[parts.end(4) :]
    if time:
        clock = re.sub(r"\d{1,2}:\d{2}", "%I:%M" if parts[9] else "%H:%M", time, count=1)
        clock = re.sub(r"%M:\d{2}", "%M:%S", clock)
        clock = re.sub(r"(%S[.,])\d+", r"\1%f", clock)
        clock = re.sub(r"[AaPp][Mm]", "%p", clock)
        found += re.sub(r"(Z|[+-]\d{2}:?\d{2})$", "%z", clock)
    return found


def _moment(value: object, dates: DateReader) -> datetime | int:
    """A date, perhaps without zone, or microseconds since 1970."""
    if isinstance(value, str):
        return dates(value)
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _since_epoch(value)
    raise TypeError


def _from_text(text: str) -> datetime | int:
    if len(text) == 30 and text[3] == " ":
        return _from_x(text)
    if text[3:4] == ",":
        return parsedate_to_datetime(text)
    text = text.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit() and len(text) > 8:  # eight digits are a date
        return _since_epoch(float(text) if "." in text else int(text))
    if text.endswith(" UTC"):
        text = text[:-4] + "+00:00"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        parts = _SPREADSHEET.fullmatch(text)
        if parts is None or (parts[2] != "." and len(parts[1]) != 4):
            raise
        return day_first(text)  # with dots, or the year first, the order is clear


def _from_x(text: str) -> datetime:
    """A time in the format of X API v1.1. Parsed by hand: strptime is ten times slower and depends on the locale."""
    offset = timedelta(hours=int(text[21:23]), minutes=int(text[23:25]))
    return datetime(
        int(text[26:30]),
        _MONTHS[text[4:7]],
        int(text[8:10]),
        int(text[11:13]),
        int(text[14:16]),
        int(text[17:19]),
        tzinfo=timezone(-offset if text[20] == "-" else offset),
    )


def _since_epoch(number: int | float) -> int:
    """Microseconds since 1970. The size of the number shows its unit: seconds have 9 to 11 digits until year 5138."""
    size = abs(number)
    if size < 1e8:
        raise ValueError  # 20260105 is a date; as seconds it would be in 1970
    for limit, factor in ((1e11, 1_000_000.0), (1e14, 1_000.0), (1e17, 1.0), (1e20, 0.001)):
        if size < limit:
            whole = isinstance(number, int) and factor >= 1
            return number * int(factor) if whole else round(number * factor)  # type: ignore[return-value]
    raise OverflowError
