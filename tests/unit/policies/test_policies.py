"""What every policy must keep to, whatever it is."""

from __future__ import annotations

import numpy as np
import pytest

from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.errors import DataError, SettingError
from klda.policies.registry import policies, policy
from klda.text.corpus import Corpus
from klda.types import Budget, Keyword, KeywordSet

QUICK = {"klda": {"iterations": 5}, "klda-paper": {"pretraining": 5, "iterations": 0}}
RANKING = ("klda", "klda-paper", "counting", "counting-scored", "frequent", "random")
"""Policies that say which candidates extend each current keyword."""


def made(name: str) -> Policy:
    return policy(name, **QUICK.get(name, {}))


def advice(
    name: str, history: Corpus, current: KeywordSet, candidates: KeywordSet, budget: Budget | None = None, seed: int = 0
) -> Proposal:
    generator = np.random.default_rng(seed)
    return made(name).propose(
        Situation(history=history, current=current, candidates=candidates, budget=budget or Budget()),
        generator=generator,
    )


@pytest.mark.parametrize("name", policies())
class TestEveryPolicy:
    def test_proposes_only_candidates_and_accounts_for_every_current_keyword(self, name, history, current, candidates):
        found = advice(name, history, current, candidates)
        assert found.policy == name
        assert set(found.next_keywords.texts) <= set(candidates.texts)
        assert set(found.ranked.texts) <= set(candidates.texts)
        assert set(found.keep.texts) | set(found.drop.texts) == set(current.texts)
        assert not set(found.keep.texts) & set(found.drop.texts)
        assert not set(found.add.texts) & set(current.texts)
        assert len(found.next_keywords) > 0

    def test_gives_a_reason_in_words_for_every_keyword_kept_added_or_dropped(self, name, history, current, candidates):
        found = advice(name, history, current, candidates)
        for action, keywords in (("keep", found.keep), ("add", found.add), ("drop", found.drop)):
            for keyword in keywords:
                reason = found.reason(keyword)
                assert reason is not None
                assert reason.action == action
                assert "a week" in reason.volume
                assert reason.frequency is not None
                assert reason.expected_posts is not None

    def test_the_same_seed_gives_the_same_advice_that_survives_json(self, name, history, current, candidates):
        first, second = (advice(name, history, current, candidates, seed=3) for _ in range(2))
        assert first == second
        assert Proposal.from_json(first.to_json()) == first

    def test_keeps_to_the_budget(self, name, history, current, candidates):
        posts = 60
        budget = Budget(max_keywords=3, max_terms=5, max_posts=posts)
        found = advice(name, history, current, candidates, budget)
        assert len(found.next_keywords) <= 3
        assert found.next_keywords.n_terms <= 5
        assert found.expected_posts is not None
        assert found.expected_posts.mean <= posts + 0.05

    def test_required_words_are_in_and_forbidden_ones_out(self, name, history, current, candidates):
        required, forbidden = candidates[-1], candidates[0]
        budget = Budget(required=KeywordSet((required,)), forbidden=frozenset({forbidden.text.upper()}))
        found = advice(name, history, current, candidates, budget)
        assert required in found.next_keywords
        reason = found.reason(required)
        assert reason is not None
        assert reason.text.startswith("Required")
        assert forbidden not in found.next_keywords

    def test_required_words_need_not_be_candidates(self, name, history, current, candidates):
        budget = Budget(required=KeywordSet.of("harbour master"))
        assert "harbour master" in advice(name, history, current, candidates, budget).next_keywords

    def test_required_words_beyond_the_budget_are_an_error(self, name, history, current, candidates):
        with pytest.raises(SettingError, match="required"):
            advice(name, history, current, candidates, Budget(max_keywords=1, required=candidates[:2]))

    def test_a_silent_keyword_is_noted_and_not_fatal(self, name, history, current, candidates):
        silent = current | KeywordSet.of("xylophonist")
        found = advice(name, history, silent, candidates | silent)
        assert any("xylophonist" in note for note in found.notes)

    def test_a_window_without_any_candidate_is_an_error(self, name, history, current, candidates):
        nothing = KeywordSet.of("xylophonist")
        with pytest.raises(DataError):
            advice(name, history, nothing, nothing)

    def test_the_advice_is_for_the_window_after_the_last(self, name, history, current, candidates):
        found = advice(name, history, current, candidates)
        assert found.window == history.windows[-1].end.isoformat()


@pytest.mark.parametrize("name", RANKING)
def test_lists_name_extensions_of_each_current_keyword_and_never_itself(name, history, current, candidates):
    found = advice(name, history, current, candidates)
    assert list(found.per_keyword) == list(current.texts)
    for keyword, words in found.per_keyword.items():
        assert len(words) <= 2
        assert keyword not in words
        assert set(words) <= set(candidates.texts)


def test_static_keeps_everything(history, current, candidates):
    found = advice("static", history, current, candidates)
    assert found.next_keywords == current
    assert not found.add
    assert not found.drop


def test_frequent_ranks_by_the_share_of_posts(history, current, candidates):
    found = advice("frequent", history, current, candidates)
    last = history.window(-1)
    posts = [len(last.carrying([keyword])) for keyword in found.ranked]
    assert posts == sorted(posts, reverse=True)


def test_random_is_uniform_over_candidates(history, current, candidates):
    drawn = [advice("random", history, current, candidates, seed=seed).ranked[0].text for seed in range(200)]
    counts = np.array([drawn.count(text) for text in candidates.texts])
    expected = 200 / len(candidates)
    assert ((counts - expected) ** 2 / expected).sum() < 40  # chi-squared, 19 degrees of freedom: p = 0.003


def test_a_typed_keyword_keeps_its_form_and_a_found_one_carries_those_of_its_stem(history, current, candidates):
    found = advice("counting", history, current, candidates)
    assert all(keyword.forms == (keyword.text,) for keyword in found.current)
    several = [keyword for keyword in candidates if len(keyword.forms) > 1]
    assert several
    for keyword in several:
        column = history.candidates.index(keyword)
        rows = history.observed.rows[history.observed.values == column]
        texts = " ".join(history.posts.texts(history.documents.post[rows])).lower()
        assert all(form in texts for form in keyword.forms[:2])


def test_unknown_names_and_settings_say_what_there_is():
    with pytest.raises(SettingError, match="counting-scored"):
        policy("countign")
    with pytest.raises(SettingError, match="half_life"):
        policy("counting", halflife=1)


def test_third_parties_register_by_entry_point(monkeypatch):
    class Loudest:
        """The keyword in capital letters."""

        name = "loudest"

    class Point:
        name = "loudest"

        def load(self):
            return Loudest

    monkeypatch.setattr("klda.policies.registry.entry_points", lambda group: [Point()])
    assert policy("loudest").name == "loudest"
    assert policies()["loudest"] == "The keyword in capital letters."


def test_every_policy_is_described_in_one_line():
    assert all(line.endswith(".") and len(line) < 110 for line in policies().values())


def test_it_says_when_only_collected_posts_are_known(corpus, current, candidates):
    collected = corpus.with_candidates(current).without_apart()
    assert any("lower bounds" in note for note in advice("klda", collected, current, current).notes)
    everything = corpus.with_candidates(current)
    assert not any("lower bounds" in note for note in advice("klda", everything, current, current).notes)


def test_of_added_words_only_the_least_is_promised_where_no_list_has_shown_their_other_posts(
    corpus, current, candidates
):
    collected = advice("frequent", corpus.without_apart().with_candidates(candidates), current, candidates)
    added = [reason for reason in collected.reasons if reason.action == "add"]
    assert collected.at_least
    assert added
    assert all(reason.volume.startswith("At least ") for reason in added)
    assert "; at least " in repr(collected)
    everything = advice("frequent", corpus.with_candidates(candidates), current, candidates)
    assert not everything.at_least
    assert not any("At least" in reason.volume for reason in everything.reasons)
    stays = advice("static", corpus.without_apart().with_candidates(candidates), current, candidates)
    assert not stays.at_least, "all posts of the list as it is were collected"


def test_the_dial_has_a_list_for_every_setting(history, current):
    found = advice("klda", history.with_candidates(current), current, current)
    assert len(found.frontier) == 11
    assert all(set(current.texts) & set(point.keywords) for point in found.frontier)


def test_examples_are_posts_that_carry_the_keyword(history, current, candidates):
    found = advice("counting", history, current, candidates)
    ids = {history.posts[int(row)].id for row in history.window(-1).documents.post}
    for reason in found.reasons:
        for example in reason.examples:
            assert example.id in ids
            assert history.matcher.match(example.text)
            assert history.candidates.index(reason.keyword) in history.matcher.match(example.text)


def test_static_says_which_limit_a_keyword_goes_for(history, current, candidates):
    found = advice("static", history, current, candidates, Budget(max_keywords=1))
    assert len(found.drop) == len(current) - 1
    gone = [reason.text for reason in found.reasons if reason.action == "drop"]
    assert all("No room for it beside the rest of the list (2 keywords, 1 allowed)" in text for text in gone)


def test_a_required_keyword_that_no_post_carries_is_noted(history, current, candidates):
    found = advice("counting", history, current, candidates, Budget(required=KeywordSet.of("harbour master")))
    assert any("no post carries the keyword 'harbour master'" in note for note in found.notes)


def test_a_form_forbids_its_keyword(history, current, candidates):
    plural = next(keyword for keyword in candidates if len(keyword.forms) > 1 and keyword not in current)
    budget = Budget(forbidden=frozenset({plural.forms[1]}))
    assert plural not in advice("frequent", history, current, candidates, budget).next_keywords


def test_keywords_outside_the_candidates_can_be_current(history, candidates):
    outside = KeywordSet((Keyword("people"),))
    found = advice("counting", history, outside, candidates)
    assert found.current == outside
