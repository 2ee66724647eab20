from __future__ import annotations

from math import log

import numpy as np
import pytest

from klda.baselines.tfidf import TfIdf
from klda.errors import DataError
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly

BEFORE = ["horse race", "horse track", "rain today", "rain again"]
NOW = ["horse whip", "horse whip race", "horse rain", "rain whip"]


def ranking(corpus, *current):
    return TfIdf().rank(evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent)


def test_is_the_share_of_the_lists_posts_times_the_log_of_rarity_before():
    corpus = weekly(BEFORE, NOW, keywords=("horse", "whip", "race", "rain"))
    found = ranking(corpus, "horse")
    # three posts of the last week carry horse; four posts before, of which 2, 0, 1 and 2 carry each candidate
    expected = [3 / 3 * log(5 / 3), 2 / 3 * log(5 / 1), 1 / 3 * log(5 / 2), 1 / 3 * log(5 / 3)]
    np.testing.assert_allclose(found.scores, expected)
    assert found.reasons[1] == "in 66.7% of last window's posts on the list, 0.0% of all before"


def test_posts_without_any_candidate_count_as_posts_before():
    few, more = (weekly(BEFORE + extra, NOW, keywords=("horse", "whip")) for extra in ([], ["snow"] * 5))
    assert len(more.apart) == len(few.apart) + 5
    np.testing.assert_allclose(ranking(more, "horse").scores[1], 2 / 3 * log(10))


def test_one_window_has_nothing_to_compare_with():
    with pytest.raises(DataError, match="only one"):
        ranking(weekly(NOW, keywords=("horse",)), "horse")


def test_a_last_window_without_the_list_is_an_error():
    corpus = weekly(BEFORE, ["rain whip"], keywords=("horse", "whip"))
    with pytest.raises(DataError, match="horse"):
        ranking(corpus, "horse")
