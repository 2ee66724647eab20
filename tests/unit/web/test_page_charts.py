from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import vl_convert

from klda.monitor.history import history
from klda.monitor.monitor import Monitor
from klda.monitor.overview import flow
from klda.report.page import VEGA_LITE
from klda.web.page_charts import evolution, outcomes, topics_over_time, volume
from klda.web.pages.monitors import sparkline
from tests.unit.web.conftest import Browser
from tests.unit.web.home import MONDAY, NOW, WEEK


@pytest.fixture
def monitor(reader: Browser) -> Monitor:
    made: Monitor = reader.app.state.studio.monitor("health")
    return made


def drawn(spec: Mapping[str, Any]) -> str:
    svg: str = vl_convert.vegalite_to_svg(dict(spec) | {"width": 600}, vl_version=VEGA_LITE, allowed_base_urls=[])
    return svg


@pytest.mark.parametrize("by", ["window", "day", "hour"])
def test_volume_draws_a_bar_for_each_keyword_and_time(monitor: Monitor, by: Any) -> None:
    points = flow(monitor, by)
    spec = volume(points, by, "UTC")
    assert len(spec["data"]["values"]) == len(points)
    assert "vaccine" in drawn(spec)


def test_topics_add_up_to_all_posts(monitor: Monitor) -> None:
    found = monitor.records.topics.latest()
    assert found is not None
    spec = topics_over_time(found, "Europe/Berlin")
    assert spec["description"] == "Shares of 6 topics in 5 windows"
    assert "<svg" in drawn(spec)


def test_evolution_has_a_row_for_each_keyword(monitor: Monitor) -> None:
    spec = evolution(history(monitor), NOW)
    assert [row["keyword"] for row in spec["data"]["values"]] == ["hospital", "doctor", "vaccine"]
    assert "doctor" in drawn(spec)


def test_a_keyword_that_has_just_come_has_a_bar(monitor: Monitor) -> None:
    rows = evolution(history(monitor), MONDAY + 2 * WEEK)["data"]["values"]
    [vaccine] = [row for row in rows if row["keyword"] == "vaccine"]
    assert vaccine["to"] == vaccine["from"] < vaccine["drawn"]
    assert all(row["drawn"] == row["to"] for row in rows if row is not vaccine)
    assert evolution([], NOW)["data"]["values"] == []


def test_outcomes_say_which_lie_within_what_was_expected(monitor: Monitor) -> None:
    found = [outcome for story in history(monitor) for outcome in story.outcomes]
    spec = outcomes(found, "UTC")
    states = [row["state"] for row in spec["layer"][1]["data"]["values"]]
    assert len(states) == len(found)
    assert set(states) == {"within what was expected", "outside"}
    assert "<svg" in drawn(spec)


def test_a_sparkline_needs_no_more_than_one_value() -> None:
    assert sparkline([]) == ("", "")
    assert sparkline([5])[0] == "M3 3L237 3"
