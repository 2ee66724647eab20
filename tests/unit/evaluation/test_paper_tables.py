"""The paper's own Tables 5 and 6, laid out again from its lists."""

from __future__ import annotations

import numpy as np
import pytest

from klda.evaluation.paper_tables import (
    RANDOM,
    additional_keywords,
    data_sizes,
    keyword_evolution,
    keyword_level_tables,
    paper_tables,
    random_words,
    set_level_tables,
)

LISTS = {
    "stream": ["map"],
    "game": ["playing", "tonight", "stream"],
    "playing": ["live", "stream", "map"],
}
TRUE = {"stream": [], "game": ["playing", "tonight", "fun"], "playing": ["fun", "tonight", "stream"]}
STREAMING = {
    "subject": "streaming",
    "week": "2019-05-06",
    "current": ["stream", "game", "playing"],
    "candidates": ["stream", "game", "playing", "map", "tonight", "live", "fun", "workshop", "everyone", "hero", "guy"],
    "history": [["video", "stream"], ["stream", "game", "playing"]],
    "truth": {"raw": TRUE, "corrected": TRUE},
    "answers": {
        "klda": {
            "proposed": LISTS,
            "scores": {"raw/2": {"accuracy": 0.5, "coverage": 2 / 3}, "raw/3": {"accuracy": 0.6, "coverage": 0.75}},
        },
        "viral": {"error": "nothing is known about reposts", "scores": {}},
    },
    "origin": {"stream": "current", "map": "viral", "fun": "viral", "guy": "nouns", "video": "history"},
    "data": {
        "documents": 135_506,
        "words": 1_387_365,
        "test_documents": 6_271,
        "test_words": 64_002,
        "vocabulary": 196_299,
        "vocabulary_reduced": 12_033,
    },
}


def test_table_1_has_the_list_of_each_week():
    table = keyword_evolution([STREAMING])
    assert table.columns == ("week", "streaming")
    assert table.rows == ((1, "video, stream"), (2, "stream, game, playing"))


def test_table_2_has_the_words_that_were_added_by_where_they_come_from():
    assert additional_keywords([STREAMING]).rows == (("streaming", "map, fun", "guy"),)


def test_the_data_table_has_the_papers_rows():
    table = data_sizes([STREAMING])
    assert dict(table.rows)["documents, test week"] == 6_271
    assert dict(table.rows)["vocabulary (reduced)"] == 12_033


def test_table_5_gives_the_papers_rows():
    (table,) = keyword_level_tables([STREAMING], (2, 3))
    rows = {str(row[0]).split()[0]: row[1:] for row in table.rows}
    assert rows["stream"] == ("map", "map", "none", "none", None, None)
    assert rows["game"][:2] == ("playing, tonight", "playing, tonight, stream")
    assert rows["game"][4:] == (1.0, pytest.approx(0.67, abs=0.005))
    assert rows["playing"][4:] == (0.0, pytest.approx(0.33, abs=0.005))


def test_table_5_counts_a_list_that_was_chosen_as_a_whole_as_the_backtest_does():
    lists = {"game": ["map", "tonight", "fun"], "playing": ["fun", "tonight"]}
    chosen = {"klda": {"proposed": lists, "together": ["tonight", "fun", "map"], "scores": {}}}
    (table,) = keyword_level_tables([STREAMING | {"answers": chosen}], (2, 3))
    rows = {str(row[0]).split()[0]: row[1:] for row in table.rows}
    assert rows["game"][:2] == ("tonight, fun", "map, tonight, fun")
    assert rows["playing"][:2] == ("fun, tonight", "fun, tonight")


def test_table_6_has_each_policy_and_the_papers_random_set():
    two, three = set_level_tables([STREAMING], (2, 3))
    assert two.columns == ("", "klda", "viral", RANDOM)
    rows = {row[0]: row[1:] for row in two.rows}
    assert rows["streaming, accuracy"][:2] == (0.5, None)
    assert rows["accuracy (mean)"][0] == 0.5
    assert {row[0]: row[1] for row in three.rows}["coverage (mean)"] == 0.75


def test_random_words_are_those_that_nobody_recommends_current_keywords_among_them():
    drawn = set()
    for seed in range(40):
        words = random_words(STREAMING, np.random.default_rng(seed))
        assert len(set(words)) == 3
        drawn |= set(words)
    # `stream` and `playing` are recommended to extend another keyword, `game` is not
    assert drawn == {"game", "fun", "workshop", "everyone", "hero", "guy"}


def test_what_chance_draws_is_no_recommendation():
    chance = {"random": {"proposed": {"game": ["fun", "hero"]}, "scores": {}}}
    case = STREAMING | {"answers": STREAMING["answers"] | chance}
    assert random_words(case, np.random.default_rng(0)) == random_words(STREAMING, np.random.default_rng(0))


def test_tables_carry_the_papers_numbers():
    numbers = [table.title.partition(".")[0] for table in paper_tables([STREAMING], (2, 3))]
    assert numbers == ["Table 1", "Table 2", "Table 3", "Table 5", "Table 6", "Table 6"]


def test_table_1_says_what_viral_could_not_do():
    table = keyword_evolution([STREAMING | {"notes": ["week 2: the list stays: no post is 28 days old yet"]}])
    assert table.notes == ("streaming: week 2: the list stays: no post is 28 days old yet",)
    assert table.to_dict()["notes"] == list(table.notes)


def test_each_test_week_has_its_tables_and_cases_without_truth_none():
    later = STREAMING | {"week": "2019-05-13"}
    failed = {"subject": "kpop", "week": "2019-05-20", "error": "no post"}
    titles = [table.title for table in paper_tables([STREAMING, later, failed], (2, 3))]
    assert len(titles) == 12
    assert len(set(titles)) == 12
