"""Times of every spelling come out as the same moment, or with the reason why not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.posts.formats.outcome import Bad
from klda.posts.formats.times import parse_time
from klda.posts.schema import microseconds

MOMENT = datetime(2018, 10, 10, 20, 19, 24, tzinfo=UTC)
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    "value",
    [
        "Wed Oct 10 20:19:24 +0000 2018",
        "Wed Oct 10 15:19:24 -0500 2018",
        "2018-10-10T20:19:24Z",
        "2018-10-10T20:19:24.000Z",
        "2018-10-10 22:19:24+02:00",
        "2018-10-10 20:19:24 UTC",
        "Wed, 10 Oct 2018 20:19:24 +0000",
        " 2018-10-10T20:19:24Z ",
        1539202764,
        1539202764.0,
        1539202764000,
        1539202764000000,
        1539202764000000000,
        "1539202764",
        "1539202764.0",
        MOMENT,
        MOMENT.astimezone(ZoneInfo("Asia/Tokyo")),
    ],
)
def test_one_moment_in_every_spelling(value: object) -> None:
    assert parse_time(value) == microseconds(MOMENT)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "no time"),
        ("", "no time"),
        ("2018-10-10T20:19:24", "time without zone"),
        ("2018-10-10", "time without zone"),
        ("20181010", "time without zone"),
        (datetime(2018, 10, 10), "time without zone"),
        (date(2018, 10, 10), "time without zone"),
        ("yesterday", "unreadable time"),
        ("Wed Foo 10 20:19:24 +0000 2018", "unreadable time"),
        ("Wed, whenever", "unreadable time"),
        (20181010, "unreadable time"),
        (True, "unreadable time"),
        (float("nan"), "unreadable time"),
        (10**30, "unreadable time"),
        ([2018], "unreadable time"),
        ("0001-01-01T00:00:00+10:00", "time out of range"),
        ("2345-01-01T00:00:00Z", "time out of range"),
    ],
)
def test_what_cannot_be_used_says_why(value: object, reason: str) -> None:
    outcome = parse_time(value)
    assert isinstance(outcome, Bad)
    assert outcome.reason == reason


def test_a_stated_zone_is_used_only_where_none_is_written() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert parse_time("2018-10-10T22:19:24", berlin) == parse_time("2018-10-10T20:19:24Z", berlin)


@given(st.datetimes(datetime(1901, 1, 1), datetime(2199, 1, 1), timezones=zones))
def test_iso_times_keep_every_microsecond(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == parse_time(moment) == microseconds(moment)


@given(st.text() | st.floats() | st.integers() | st.none() | st.booleans() | st.lists(st.integers()) | st.datetimes())
def test_anything_gives_a_time_or_a_reason(value: object) -> None:
    assert isinstance(parse_time(value), int | Bad)
