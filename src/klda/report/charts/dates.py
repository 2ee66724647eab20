"""Windows as people write them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime


def window_labels(starts: Iterable[datetime]) -> dict[datetime, str]:
    """A short label for each window start, in order, with the hour or the year where days alone would not tell.

    >>> list(window_labels([datetime(2020, 1, 27), datetime(2020, 1, 20)]).values())
    ['20 Jan', '27 Jan']
    >>> list(window_labels([datetime(2020, 12, 28), datetime(2021, 1, 4)]).values())
    ['28 Dec 2020', '4 Jan 2021']
    """
    times = sorted(set(starts))
    several_years = len({time.year for time in times}) > 1
    within_days = len({time.date() for time in times}) < len(times)
    pattern = "{0.day} {0:%b}" + (" {0.year}" if several_years else "") + (" {0:%H:%M}" if within_days else "")
    return {time: pattern.format(time) for time in times}


def full_date(start: datetime | str) -> str:
    """A window start in full, with the hour where it is not midnight; a text that is no ISO 8601 time stays as it is.

    >>> full_date("2020-04-06T00:00:00+00:00"), full_date("2020-04-06T18:30:00+00:00"), full_date("next week")
    ('6 April 2020', '6 April 2020, 18:30', 'next week')
    """
    try:
        time = datetime.fromisoformat(start) if isinstance(start, str) else start
    except ValueError:
        return str(start)
    date = f"{time.day} {time:%B} {time.year}"
    return date if (time.hour, time.minute) == (0, 0) else f"{date}, {time:%H:%M}"
