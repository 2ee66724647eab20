"""What holds for every policy that scores candidates one by one."""

from __future__ import annotations

import numpy as np
import pytest

from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.baselines.ranked import Ranking, RankingPolicy, best_first
from klda.policies.registry import policy
from klda.text.documents import Documents
from klda.types import Budget, KeywordSet
from tests.unit.baselines.few_posts import evidence_of, several_subjects, weekly

GLOBAL = ("tfidf", "textrank", "topical-pagerank", "context-topical-pagerank", "word-ppr", "rm3", "king-lam-roberts")
"""Policies with one ranking for all current keywords."""
LEARNING = (*GLOBAL, "cooccurrence", "embedding", "ensemble")
"""Policies that learn from the posts alone."""
RANKING = (*LEARNING, "pretrained-embedding")


def advice(name, history, current, candidates, **settings) -> Proposal:
    generator = np.random.default_rng(0)
    return policy(name, **settings).propose(
        Situation(history=history, current=current, candidates=candidates), generator=generator
    )


@pytest.mark.parametrize("name", RANKING)
class TestEveryRanking:
    def test_ranks_every_candidate_and_lists_the_best_of_them(self, name, history, current, candidates):
        found = advice(name, history, current, candidates, top=3)
        assert sorted(found.ranked.texts) == sorted(candidates.texts)
        assert list(found.per_keyword) == list(current.texts)
        for keyword, words in found.per_keyword.items():
            assert len(words) == 3
            assert keyword not in words
        assert len(found.next_keywords) == 3 * len(current)

    def test_the_history_stays_as_it_was(self, name, history, current, candidates):
        def arrays(documents: Documents) -> dict[str, np.ndarray]:
            return {key: array.copy() for key, array in documents.arrays().items()}

        before = arrays(history.documents), arrays(history.apart), history.observed.values.copy()
        advice(name, history, current, candidates)
        after = arrays(history.documents), arrays(history.apart), history.observed.values
        np.testing.assert_equal(after, before)


@pytest.mark.parametrize("name", LEARNING)
def test_words_of_the_subject_rank_above_those_of_others(name):
    corpus, current, words = several_subjects()
    ranked = advice(name, corpus, current, corpus.candidates).ranked.texts
    of_subject = {ranked.index(word) for word in words["health"]}
    others = {ranked.index(word) for subject, found in words.items() if subject != "health" for word in found}
    above = np.mean([own < other for own in of_subject for other in others])
    assert above > 0.9


@pytest.mark.parametrize("name", GLOBAL)
def test_one_ranking_serves_all_keywords(name, history, current, candidates):
    found = advice(name, history, current, candidates)
    for keyword, words in found.per_keyword.items():
        assert words == tuple(text for text in found.ranked.texts if text != keyword)[:2]


class ByHand(RankingPolicy):
    name = "by-hand"
    affinity = None

    def rank(self, evidence, *, generator, progress):
        return Ranking(np.array([0.0, 3.0, 1.0, 2.0]), ["why"] * 4, self.affinity)


POSTS = weekly(
    ["a horse race"], ["horse race whip track", "race", "horse"], keywords=("horse", "race", "whip", "track")
)


def by_hand(affinity=None, budget=None, current=("horse", "race")):
    made = ByHand(top=1)
    made.affinity = affinity
    asked = Situation(POSTS, KeywordSet.of(*current), budget or Budget(), candidates=POSTS.candidates)
    return made.propose(asked, generator=np.random.default_rng(0))


def test_the_best_make_the_list():
    found = by_hand()
    assert found.ranked.texts == ("race", "track", "whip", "horse")
    assert (found.keep.texts, found.add.texts, found.drop.texts) == (("race",), ("track",), ("horse",))
    assert found.per_keyword == {"horse": ("race",), "race": ("track",)}
    assert by_hand(budget=Budget(max_keywords=3)).next_keywords.texts == ("race", "track", "whip")


def test_each_keyword_lists_what_goes_with_it_and_ties_go_to_the_better_score():
    found = by_hand(affinity=np.array([[9.0, 0.0, 1.0, 0.0], [0.0, 9.0, 0.0, 0.0]]))
    assert found.per_keyword == {"horse": ("whip",), "race": ("track",)}
    track = found.reason("track")
    assert track is not None
    assert track.extends == "horse"


def test_equal_scores_go_to_the_more_frequent():
    order = best_first(np.zeros(4), evidence_of(POSTS, "horse").frequency)
    assert order.tolist() == [0, 1, 2, 3]
