"""Times as the platforms write them → microseconds since 1970 in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime

from klda.posts.formats.outcome import Bad
from klda.posts.reasons import NO_TIME, TIME_OUT_OF_RANGE, TIME_WITHOUT_ZONE, UNREADABLE_TIME

EARLIEST = -2_208_988_800_000_000  # 1900-01-01
LATEST = 7_258_118_400_000_000  # 2200-01-01

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MONTHS = {"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6}
_MONTHS |= {"Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12}


def parse_time(value: object, zone: tzinfo | None = None) -> int | Bad:
    """Microseconds since 1970 in UTC, or why not; `zone` is taken for times that state none.

    Read are ISO 8601, X's `Wed Oct 10 20:19:24 +0000 2018`, RFC 2822, and numbers since 1970 (seconds, milli-, micro-
    or nanoseconds, told apart by their size; they are UTC).

    >>> parse_time("Wed Oct 10 20:19:24 +0000 2018") == parse_time("2018-10-10T22:19:24+02:00")
    True
    >>> parse_time("2018-10-10 20:19:24").reason
    'time without zone'
    """
    if value is None or value == "":
        return Bad(NO_TIME, "time")
    try:
        moment = _moment(value)
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


def _moment(value: object) -> datetime | int:
    """A date, perhaps without zone, or microseconds since 1970."""
    if isinstance(value, str):
        return _from_text(value)
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
    return datetime.fromisoformat(text)


def _from_x(text: str) -> datetime:
    """The format of X API v1.1; by hand, because strptime is ten times slower and follows the locale."""
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
    """Microseconds from a number whose size tells its unit: seconds have 9 to 11 digits until the year 5138."""
    size = abs(number)
    if size < 1e8:
        raise ValueError  # 20260105 is a date in disguise; as seconds it would lie in 1970
    for limit, factor in ((1e11, 1_000_000.0), (1e14, 1_000.0), (1e17, 1.0), (1e20, 0.001)):
        if size < limit:
            whole = isinstance(number, int) and factor >= 1
            return number * int(factor) if whole else round(number * factor)  # type: ignore[return-value]
    raise OverflowError
