"""Pictures: valid, complete, and honest about what they show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import vl_convert

from klda.advice.explanation import FrontierPoint
from klda.report.charts.keyword_activity import NEXT, OTHERS, collected, evolution
from klda.report.charts.proposed_list import WHOLE_LIST, expected_posts, frontier, topic_bars, word_shifts
from klda.report.charts.theme import DARK, LIGHT, themed
from klda.report.content import Activity
from tests.unit.report.sample import (
    ACTIVITY,
    FRONTIER,
    NEXT_LIST,
    PROPOSAL,
    REASONS,
    TOPICS,
    WORDS,
)

ACTIONS = {reason.keyword.text: reason.action for reason in REASONS}
SPECS = {
    "expected": expected_posts(REASONS, PROPOSAL.expected_posts, 12_000),
    "topics": topic_bars(TOPICS),
    "words": word_shifts(WORDS),
    "evolution": evolution(ACTIVITY, ACTIONS, {"health": 5_000.0}),
    "collected": collected(ACTIVITY),
    "frontier": frontier(FRONTIER, NEXT_LIST),
}


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row of the chart's data."""
    return [row for part in spec["datasets"].values() for row in part]


@pytest.mark.parametrize("name", SPECS)
def test_a_picture_compiles_and_draws(name: str) -> None:
    svg = vl_convert.vegalite_to_svg(SPECS[name] | {"width": 500}, vl_version="6.4", allowed_base_urls=[])
    assert svg.startswith("<svg")
    assert "NaN" not in svg


@pytest.mark.parametrize("name", SPECS)
def test_a_picture_uses_no_colour_outside_the_palette_once_themed(name: str) -> None:
    without_data = {k: v for k, v in themed(SPECS[name]).items() if k != "datasets"}
    assert not [colour for colour in LIGHT.values() if colour in str(without_data)]


def test_both_palettes_name_the_same_things() -> None:
    assert LIGHT.keys() == DARK.keys()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", "soft", "keep", "add", "drop", "hold"])
def test_text_stands_out_from_the_paper(palette: dict[str, str], name: str) -> None:
    lighter, darker = sorted((luminance(palette[name]), luminance(palette["paper"])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5  # WCAG 2 AA


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_expected_volume_has_every_keyword_the_list_and_the_budget() -> None:
    shown = rows(SPECS["expected"])
    assert {row["keyword"] for row in shown if "keyword" in row} == {*ACTIONS, WHOLE_LIST}
    assert [row["posts"] for row in shown if "posts" in row] == [12_000]


def test_each_topic_has_its_share_under_both_lists_and_its_new_words() -> None:
    shown = rows(SPECS["topics"])
    assert [(row["today"], row["proposed"]) for row in shown] == [(topic.now, topic.then) for topic in TOPICS]
    assert shown[3]["new"].startswith("new: kits, labs")
    assert shown[4]["new"] == ""  # no word of it is new


def test_both_bars_of_a_topic_share_one_scale() -> None:
    scales = [layer["encoding"]["x"]["scale"] for layer in SPECS["topics"]["layer"] if layer["mark"]["type"] == "bar"]
    assert len(scales) == 2
    assert scales[0] == scales[1]


def test_words_are_ordered_from_the_most_gained_to_the_most_lost() -> None:
    order = [row["proposed"] - row["current"] for row in rows(SPECS["words"])]
    assert order == sorted(order, reverse=True)


def test_stacks_add_up_to_the_posts_collected() -> None:
    shown = rows(SPECS["collected"])
    assert sum(row["posts"] for row in shown) == pytest.approx(sum(row.collected for row in ACTIVITY))
    assert OTHERS in {row["keyword"] for row in shown}


def test_evolution_ends_with_the_proposed_list() -> None:
    last = [row for row in rows(SPECS["evolution"]) if row["label"] == NEXT]
    assert [(row["keyword"], row["posts"], row["active"]) for row in last] == [("health", 5_000.0, True)]


def test_evolution_keeps_the_keywords_decided_on_when_there_are_too_many() -> None:
    window = datetime(2026, 1, 5, tzinfo=UTC)
    many = [Activity(window, f"old {i}", 1_000 + i, 0, True) for i in range(60)] + [Activity(window, "health", 1)]
    shown = [row["keyword"] for row in rows(evolution(many, {"health": "keep"}))]
    assert "health" in shown
    assert "old 59" in shown
    assert "old 0" not in shown


def test_the_frontier_fills_only_the_proposed_list() -> None:
    assert [row["novelty"] for row in rows(SPECS["frontier"]) if row["chosen"]] == [0.5]


def test_the_frontier_shows_each_list_once_with_its_settings_and_its_posts() -> None:
    points = [
        FrontierPoint(n / 4, 0.8 + (n > 2) / 10, 0.4, 100.0 + n, ("a", "b") if n > 2 else ("a",)) for n in range(5)
    ]
    shown = [(row["dial"], row["label"]) for row in rows(frontier(points, ["a"]))]
    assert shown == [("0 to 0.5", "proposed, 0 to 0.5: 100 posts"), ("0.75 to 1", "0.75 to 1: 103 posts")]


def test_labels_of_the_frontier_do_not_lie_upon_each_other() -> None:
    ground = [0.0, 0.01, 0.5, 1.0]
    points = [FrontierPoint(n / 3, 0.8 - new / 10, new, 100.0, (f"a{n}",)) for n, new in enumerate(ground)]
    shown = rows(frontier(points, ["a1"]))
    assert [bool(row["label"]) for row in shown] == [False, True, True, True]
    assert all(row["keywords"] and row["dial"] for row in shown)
