from __future__ import annotations

import numpy as np

from klda.baselines.textrank import TextRank
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly


def ranking(corpus, *current):
    return TextRank().rank(evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent)


def test_a_word_that_stands_with_many_others_ranks_above_one_that_stands_with_one():
    corpus = weekly(
        ["old"],
        ["horse race track", "horse race whip", "horse race fence", "horse owl"],
        keywords=("horse", "race", "owl"),
    )
    horse, race, owl = ranking(corpus, "horse").scores
    assert horse > race > owl


def test_only_the_lists_posts_of_the_last_window_count():
    posts = ["horse race track", "horse owl"]
    plain, more = (
        weekly(["owl horse track"] * n, [*posts, *["owl rain track"] * n], keywords=("horse", "race", "owl"))
        for n in (1, 6)
    )
    np.testing.assert_allclose(ranking(plain, "horse").scores, ranking(more, "horse").scores)


def test_says_which_words_a_candidate_stands_with():
    corpus = weekly(["old"], ["horse race track", "horse race", "horse"], keywords=("horse", "race", "owl"))
    reasons = ranking(corpus, "horse").reasons
    assert reasons[1].endswith("it stands most with horse, track")
    assert reasons[2] == "stands with no other word in the list's posts"
