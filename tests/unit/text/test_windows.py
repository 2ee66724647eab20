from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import DataError, SettingError
from klda.posts.schema import microseconds
from klda.text.windows import Windowing, parse_length

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo"]
times = st.datetimes(datetime(2015, 1, 1), datetime(2019, 1, 1), timezones=st.just(UTC))
rules = st.builds(
    Windowing,
    st.sampled_from(["7d", "1d", "2w", "6h", "36h"]),
    st.sampled_from(ZONES),
    st.none() | st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.sampled_from([UTC, None])),
)


@given(rules, st.lists(times, min_size=1, max_size=5))
def test_windows_follow_one_another_and_each_time_lies_in_its_own(rule: Windowing, moments: list[datetime]) -> None:
    windows, index = rule.assign(np.array([microseconds(moment) for moment in moments]))
    assert all(first.end == second.start for first, second in pairwise(windows))
    for moment, i in zip(moments, index.tolist(), strict=True):
        assert windows[i].start <= moment < windows[i].end
        assert rule.holding(moment) == windows[i]
    assert {0, len(windows) - 1} <= set(index.tolist())


@given(rules, times)
def test_windows_of_whole_days_start_at_the_same_local_time(rule: Windowing, moment: datetime) -> None:
    window, step = rule.holding(moment), parse_length(rule.length)
    if step % timedelta(days=1):
        assert window.length == step
    else:
        start = window.start.astimezone(ZoneInfo(rule.zone)).replace(tzinfo=None)
        expected = rule._anchor + round((start - rule._anchor) / step) * step
        assert abs(start - expected) <= timedelta(hours=1)  # only where that local time was skipped
        assert abs(window.length - step) <= timedelta(hours=1)


def test_weeks_start_on_monday_at_midnight_utc() -> None:
    window = Windowing("7d").holding(datetime(2020, 1, 1, 12, tzinfo=UTC))
    assert window.start == datetime(2019, 12, 30, tzinfo=UTC)


def test_a_day_in_which_the_clocks_change_is_an_hour_shorter() -> None:
    window = Windowing("1d", zone="Europe/Berlin").holding(datetime(2020, 3, 29, 12, tzinfo=UTC))
    assert window.start == datetime(2020, 3, 28, 23, tzinfo=UTC)
    assert window.length == timedelta(hours=23)


def test_windows_can_start_at_any_time_of_the_week() -> None:
    rule = Windowing("7d", align=datetime(2020, 1, 3, 18, tzinfo=UTC))
    assert rule.holding(datetime(2020, 1, 10, 17, tzinfo=UTC)).start == datetime(2020, 1, 3, 18, tzinfo=UTC)


def test_a_week_without_posts_is_a_window_too() -> None:
    moments = [datetime(2020, 1, 6, tzinfo=UTC), datetime(2020, 1, 27, tzinfo=UTC)]
    windows, index = Windowing("7d").assign(np.array([microseconds(moment) for moment in moments]))
    assert (len(windows), index.tolist()) == (4, [0, 3])


def test_no_times_make_no_windows() -> None:
    windows, index = Windowing().assign(np.zeros(0, dtype=np.int64))
    assert (windows, len(index)) == ((), 0)


@pytest.mark.parametrize("length", ["", "7", "d", "0d", "-1d", "1y", "1.5d", "9999999999w"])
def test_a_length_that_is_none_is_refused_with_an_example(length: str) -> None:
    with pytest.raises(SettingError, match="7d"):
        Windowing(length)


def test_an_unknown_zone_is_named() -> None:
    with pytest.raises(SettingError, match="Mars/Olympus"):
        Windowing(zone="Mars/Olympus")


def test_a_stray_time_does_not_make_millions_of_windows() -> None:
    moments = [datetime(1970, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)]
    with pytest.raises(DataError, match="stray"):
        Windowing("1m").assign(np.array([microseconds(moment) for moment in moments]))
