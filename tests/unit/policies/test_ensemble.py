from __future__ import annotations

import numpy as np
import pytest

from klda.advice.situation import Situation
from klda.errors import DataError, SettingError
from klda.policies.ensemble import Ensemble, fused
from klda.policies.registry import policy
from tests.unit.baselines.few_posts import weekly


class Dumb:
    """Never has anything to say."""

    name = "dumb"

    def propose(self, *_, **__):
        raise DataError("nothing to say")


def advice(members, history, current, candidates, seed=0):
    generator = np.random.default_rng(seed)
    return Ensemble(members=members).propose(
        Situation(history=history, current=current, candidates=candidates), generator=generator
    )


def test_ranks_are_fused_by_their_reciprocals():
    orders = [np.array([2, 0, 1]), np.array([0, 2])]
    np.testing.assert_allclose(fused(orders, 4), [1 / 62 + 1 / 61, 1 / 63, 1 / 61 + 1 / 62, 0])


def test_one_member_alone_gives_its_own_ranking(history, current, candidates):
    alone = policy("tfidf").propose(
        Situation(history=history, current=current, candidates=candidates), generator=np.random.default_rng(0)
    )
    found = advice(("tfidf",), history, current, candidates)
    assert found.ranked == alone.ranked
    assert found.per_keyword == alone.per_keyword
    assert found.next_keywords == alone.next_keywords


def test_lists_of_each_keyword_are_fused_too(history, current, candidates):
    alone = policy("embedding").propose(
        Situation(history=history, current=current, candidates=candidates), generator=np.random.default_rng(0)
    )
    assert advice(("embedding",), history, current, candidates).per_keyword == alone.per_keyword


def test_what_all_members_rank_first_stays_first(history, current, candidates):
    members = ("textrank", "frequent", "cooccurrence")
    found = advice(members, history, current, candidates)
    places = {
        name: {text: place for place, text in enumerate(proposal.ranked.texts)}
        for name in members
        for proposal in [
            policy(name).propose(
                Situation(history=history, current=current, candidates=candidates), generator=np.random.default_rng(0)
            )
        ]
    }
    for i, better in enumerate(found.ranked.texts):
        for worse in found.ranked.texts[i + 1 :]:
            assert any(place[better] < place[worse] for place in places.values())


def test_a_member_that_fails_is_noted_and_left_out(history, current, candidates):
    found = advice((Dumb(), "tfidf"), history, current, candidates)
    assert found.ranked == advice(("tfidf",), history, current, candidates).ranked
    assert "`dumb` is left out of the ensemble: nothing to say" in found.notes


def test_an_ensemble_of_failures_is_an_error(history, current, candidates):
    with pytest.raises(DataError, match="nothing to say"):
        advice((Dumb(),), history, current, candidates)


def test_members_without_lists_lend_their_ranking(history, current, candidates):
    found = advice(("static", "random"), history, current, candidates)
    assert list(found.per_keyword) == list(current.texts)
    assert all(len(words) == 2 for words in found.per_keyword.values())


def test_reasons_name_the_ranks_that_members_give(history, current, candidates):
    found = advice(("tfidf", "static"), history, current, candidates)
    first = found.reason(found.ranked[0])
    assert first is not None
    assert "1 by static" in first.text or "1 by tfidf" in first.text


def test_settings_of_a_member_are_left_as_they_were(history, current, candidates):
    member = policy("tfidf")
    advice((member,), history, current, candidates)
    assert member.top == 2


@pytest.mark.parametrize("members", [(), ("tfidf", "ensemble"), ("tfidf", "tfdif")])
def test_members_must_be_other_policies(members):
    corpus = weekly(["horse race"], ["horse race"], keywords=("horse",))
    with pytest.raises(SettingError):
        advice(members, corpus, corpus.candidates, corpus.candidates)
