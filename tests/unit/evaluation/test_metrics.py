"""The paper's Table 6 follows from its Table 5: exact answers for the metric code."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.evaluation.metrics import agreement, keyword_level, set_level, skill

HORSE_2 = {"derby": ["racing", "kentucky"], "race": ["war", "riding"], "racing": ["today", "kentucky"]}
HORSE_2_TRUE = {"derby": ["racing", "sex"], "race": ["horse", "riding"], "racing": ["sex", "know"]}
HORSE_3 = {
    "derby": ["racing", "kentucky", "time"],
    "race": ["war", "riding", "horse"],
    "racing": ["today", "kentucky", "time"],
}
HORSE_3_TRUE = {
    "derby": ["racing", "sex", "know"],
    "race": ["horse", "riding", "racing"],
    "racing": ["sex", "know", "show"],
}
STREAM_2 = {"stream": ["map"], "game": ["playing", "tonight"], "playing": ["live", "stream"]}
STREAM_2_TRUE = {"stream": [], "game": ["playing", "tonight"], "playing": ["fun", "tonight"]}
STREAM_3 = {"stream": ["map"], "game": ["playing", "tonight", "stream"], "playing": ["live", "stream", "map"]}
STREAM_3_TRUE = {"stream": [], "game": ["playing", "tonight", "fun"], "playing": ["fun", "tonight", "stream"]}
VIRAL_STREAM = [
    "stream",
    "skin",
    "map",
    "mercy",
    "game",
    "havana",
    "league",
    "player",
    "night",
    "tonight",
    "people",
    "fun",
]
VIRAL_HORSE = [
    "birthday",
    "kentucky",
    "derby",
    "shit",
    "racing",
    "riding",
    "people",
    "today",
    "time",
    "today",
]


@pytest.mark.parametrize(
    ("proposed", "true", "accuracy", "coverage"),
    [
        (HORSE_2, HORSE_2_TRUE, 2 / 5, 2 / 5),
        (HORSE_3, HORSE_3_TRUE, 3 / 7, 3 / 6),
        (STREAM_2, STREAM_2_TRUE, 2 / 4, 2 / 3),
        (STREAM_3, STREAM_3_TRUE, 3 / 5, 3 / 4),
        (VIRAL_STREAM, STREAM_2_TRUE, 2 / 12, 2 / 3),
        (VIRAL_STREAM, STREAM_3_TRUE, 3 / 12, 3 / 4),
        (VIRAL_HORSE, HORSE_2_TRUE, 2 / 9, 2 / 5),
    ],
)
def test_set_level_gives_the_numbers_of_table_5(proposed, true, accuracy, coverage):
    result = set_level(proposed, true)
    assert result.accuracy == pytest.approx(accuracy)
    assert result.coverage == pytest.approx(coverage)


def test_words_said_to_be_equivalent_give_the_papers_own_numbers_for_viral():
    same = [("player", "playing")]
    assert set_level(VIRAL_STREAM, STREAM_2_TRUE, equivalent=same).accuracy == pytest.approx(0.25)
    assert set_level(VIRAL_STREAM, STREAM_2_TRUE, equivalent=same).coverage == 1.0
    assert set_level(VIRAL_STREAM, STREAM_3_TRUE, equivalent=same).accuracy == pytest.approx(0.33, abs=0.005)
    assert set_level(VIRAL_STREAM, STREAM_3_TRUE, equivalent=same).coverage == 1.0


@pytest.mark.parametrize(
    ("proposed", "true", "rows"),
    [
        (HORSE_2, HORSE_2_TRUE, {"derby": 0.5, "race": 0.5, "racing": 0.0}),
        (HORSE_3, HORSE_3_TRUE, {"derby": 1 / 3, "race": 2 / 3, "racing": 0.0}),
        (STREAM_2, STREAM_2_TRUE, {"game": 1.0, "playing": 0.0}),
        (STREAM_3, STREAM_3_TRUE, {"game": 2 / 3, "playing": 1 / 3}),
        ({"army": ["april", "album"]}, {"army": ["fans", "concert", "guys"]}, {"army": 0.0}),
    ],
)
def test_keyword_level_gives_the_accuracy_columns_of_table_4(proposed, true, rows):
    assert {k: a.accuracy for k, a in keyword_level(proposed, true).items()} == pytest.approx(rows)


def test_a_policy_that_proposes_nothing_has_no_accuracy_and_covers_nothing():
    result = agreement([], ["fun"])
    assert math.isnan(result.accuracy)
    assert result.coverage == 0.0


words = st.lists(st.sampled_from("abcdefgh"), min_size=1)


@given(words, words)
def test_accuracy_one_way_is_coverage_the_other_way(first, second):
    assert agreement(first, second).accuracy == agreement(second, first).coverage


@given(words, words)
def test_order_and_repetition_do_not_matter(first, second):
    assert agreement(first, second) == agreement(sorted(first) * 2, sorted(second, reverse=True))


def test_skill_is_nought_for_chance_and_one_for_the_ceiling():
    assert skill(0.2, 0.2, 0.45) == 0.0
    assert skill(0.45, 0.2, 0.45) == pytest.approx(1.0)
    assert math.isnan(skill(0.3, 0.4, 0.4))
    assert math.isnan(skill(0.1, 0.4, 0.3)), "below a ceiling that is below chance lies no skill"
