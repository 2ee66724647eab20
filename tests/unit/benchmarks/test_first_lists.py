from __future__ import annotations

from benchmarks.first_lists import grade_of, summary
from klda.types import Keyword

BOOKS = {"judged": {"Ballot": 2, "mail": 1}, "current": {"vote": 2}}


def test_a_word_has_the_best_grade_of_its_forms():
    assert grade_of(Keyword("ballots", ("ballots", "ballot", "mail")), BOOKS) == 2
    assert grade_of(Keyword("vote"), BOOKS) == 2
    assert grade_of(Keyword("pasta"), BOOKS) is None


def test_a_list_is_good_from_five_words_of_grade_2():
    found = summary({"one": {"good": 5}, "other": {"good": 4}})
    assert found == {"subjects": 2, "at_least_5": 0.5, "good": 4.5}
    assert summary({})["subjects"] == 0
