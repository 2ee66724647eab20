"""The dial and what-if: the proposal's own setting gives the proposal, and a list is weighed as the proposal was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.advice.choices import Choices, reselect, what_if
from klda.advice.proposal import Proposal
from klda.errors import DataError, SettingError
from klda.policies.recommend import recommend
from klda.simulation import World
from klda.types import Budget


@pytest.fixture(scope="module", params=[0.5, 0.34, 1.0])
def proposal(request: pytest.FixtureRequest) -> Proposal:
    world = World(weeks=3, posts_per_week=900)
    keywords = ["health", "hospital", "doctor"]
    return recommend(world, keywords, budget=8, novelty=request.param)


@pytest.fixture(scope="module")
def choices(proposal: Proposal) -> Choices:
    assert proposal.choices is not None
    return proposal.choices


def test_the_dial_at_the_proposals_own_setting_gives_the_proposal(proposal: Proposal, choices: Choices) -> None:
    found = reselect(choices, choices.novelty)
    assert (found.keep, found.add, found.drop) == (proposal.keep, proposal.add, proposal.drop)
    assert found.reasons == tuple(replace(reason, examples=()) for reason in proposal.reasons)
    assert found.expected_posts == proposal.expected_posts


def test_the_dial_walks_along_the_frontier(proposal: Proposal, choices: Choices) -> None:
    for point in proposal.frontier:
        found = reselect(choices, point.novelty)
        assert found.keywords.texts == point.keywords or set(found.keywords.texts) == set(point.keywords)
        assert (round(found.retention, 4), round(found.new_ground, 4)) == (point.retention, point.new_ground)


def test_another_budget_is_kept(choices: Choices) -> None:
    small = reselect(choices, 0.5, Budget(max_keywords=2, forbidden=frozenset({"doctor"})))
    assert 1 <= len(small.keywords) <= 2
    assert "doctor" not in small.keywords
    assert "doctor" in small.drop


def test_what_if_weighs_a_list_as_the_proposal_was_weighed(proposal: Proposal, choices: Choices) -> None:
    found = what_if(choices, proposal.next_keywords.texts)
    same = reselect(choices, choices.novelty)
    assert found.expected_posts == proposal.expected_posts
    assert (found.retention, found.new_ground) == pytest.approx((same.retention, same.new_ground))
    assert found.over is None


def test_the_current_list_gains_and_loses_nothing(choices: Choices) -> None:
    found = what_if(choices, choices.keywords(choices.current).texts)
    assert found.gained == found.lost == ()
    assert (found.retention, found.new_ground) == (1.0, 0.0)


def test_added_words_take_nothing_away(choices: Choices) -> None:
    assert what_if(choices, choices.candidates.texts[:8]).lost == ()


def test_more_keywords_never_bring_fewer_posts(choices: Choices) -> None:
    texts, posts = choices.candidates.texts, 0.0
    for n in range(1, 12):
        now = what_if(choices, texts[:n]).expected_posts.mean
        assert now >= posts - 0.1
        posts = now


def test_a_list_over_budget_is_told_so(choices: Choices) -> None:
    assert "allowed" in (what_if(choices, choices.candidates.texts[:20]).over or "")


def test_a_word_that_somebody_types_is_looked_up_in_the_posts(proposal: Proposal, choices: Choices) -> None:
    typed = next(
        w for w in World(weeks=3, posts_per_week=900).best_keywords("racing", 2, 9) if w not in choices.candidates
    )
    found = proposal.what_if(["health", typed, "unheard"])
    assert found.unknown == ("unheard",)
    [reason] = [reason for reason in found.reasons if reason.keyword.text == typed]
    assert reason.expected_posts is not None
    assert reason.expected_posts.mean > 0
    assert reason.new_posts is not None
    assert reason.relevance is not None
    assert "of them new" in reason.volume


def test_looking_a_word_up_changes_no_number_of_the_list(proposal: Proposal, choices: Choices) -> None:
    current = choices.keywords(choices.current).texts
    with_unknown = proposal.what_if([*current, "unheard"])
    assert with_unknown.expected_posts == proposal.what_if(current).expected_posts == proposal.posts_now


def test_without_posts_a_word_that_was_no_candidate_cannot_be_weighed(choices: Choices) -> None:
    with pytest.raises(DataError, match="unheard"):
        what_if(replace(choices, ask=None), ["health", "unheard"])
    with pytest.raises(DataError, match="at least one"):
        what_if(choices, [])


def test_every_part_of_a_proposal_comes_from_the_same_scores(proposal: Proposal, choices: Choices) -> None:
    chance = dict(zip(choices.candidates.texts, choices.scores.chance.tolist(), strict=True))
    ranked = [chance[text] for text in proposal.ranked.texts]
    assert ranked == sorted(ranked, reverse=True)
    weighed = {reason.keyword.text: reason for reason in what_if(choices, proposal.next_keywords.texts).reasons}
    for reason in proposal.reasons:
        assert reason.relevance == pytest.approx(chance[reason.keyword.text], abs=0.001)
        if reason.action != "drop":
            assert weighed[reason.keyword.text] == replace(reason, examples=())
    place = {text: at for at, text in enumerate(proposal.ranked.texts)}
    for words in proposal.per_keyword.values():
        assert [place[word] for word in words] == sorted(place[word] for word in words)
    nearest = min(proposal.frontier, key=lambda point: abs(point.novelty - choices.novelty))
    if nearest.novelty == choices.novelty:
        assert set(nearest.keywords) == set(proposal.next_keywords.texts)


@pytest.mark.parametrize("novelty", [-0.1, 1.1, float("nan")])
def test_the_dial_ends_at_nought_and_one(choices: Choices, novelty: float) -> None:
    with pytest.raises(SettingError, match="novelty"):
        reselect(choices, novelty)


def test_choices_are_no_part_of_the_json(proposal: Proposal) -> None:
    assert Proposal.from_json(proposal.to_json()) == replace(proposal, choices=None)


def test_patterns_count_every_post_once(choices: Choices) -> None:
    seen = choices.seen
    every = np.arange(len(choices.candidates))
    assert seen.together(every).sum() == seen.posts.sum()
    assert (seen.each(len(choices.candidates)).sum(axis=0) >= seen.posts.sum(axis=0)).all()


def test_credit_sums_to_the_posts_of_a_list(choices: Choices) -> None:
    volume, columns = choices.scores.union, np.array([3, 0, 7, 12])
    assert volume.credit(columns).sum() == pytest.approx(volume.posts(columns))
    assert volume.posts(columns) == pytest.approx(choices.expected_posts(columns).mean, abs=0.05)
