from __future__ import annotations

from math import sqrt

import numpy as np

from klda.baselines.cooccurrence import CoOccurrence
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly

NOW = ["horse race", "horse race today", "horse today", "race track", "rain today", "snow today", "sun", "moon"]


def ranking(corpus, *current):
    return CoOccurrence().rank(evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent)


def test_is_the_excess_over_chance_in_standard_deviations():
    corpus = weekly(["old"], NOW, keywords=("horse", "race", "today"))
    found = ranking(corpus, "horse")
    # of eight posts three have horse, three race, four today; two have horse and race, two horse and today
    expected = [(3 - 9 / 8) / sqrt(9 / 8 + 1), (2 - 9 / 8) / sqrt(9 / 8 + 1), (2 - 12 / 8) / sqrt(12 / 8 + 1)]
    assert found.affinity is not None
    np.testing.assert_allclose(found.affinity[0], expected)
    np.testing.assert_allclose(found.scores, expected)
    assert found.reasons == [
        "the only keyword of the list",
        "in 2 posts with horse, where chance would give 1.1",
        "in 2 posts with horse, where chance would give 1.5",
    ]


def test_scores_add_up_over_the_list_and_less_than_chance_counts_as_nothing():
    corpus = weekly(["old"], NOW, keywords=("horse", "rain", "race", "today"))
    found = ranking(corpus, "horse", "rain")
    assert found.affinity is not None
    assert (found.affinity < 0).any()
    np.testing.assert_allclose(found.scores, np.maximum(found.affinity, 0).sum(axis=0))


def test_a_word_said_everywhere_is_no_company():
    posts = ["horse race today"] * 5 + ["today rain"] * 45
    found = ranking(weekly(["old"], posts, keywords=("horse", "race", "today")), "horse")
    assert found.scores[2] == 0
    assert found.scores[1] > 0
