"""The choice of a list: what is required, what fits, and what is worth its place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.advice.budget import Limits
from klda.advice.choose import Scores, covered_by, worth
from klda.advice.constants import LEAST_KEPT, LEAST_RELEVANCE
from klda.advice.overlap import UnionVolume
from klda.types import Keyword


def scores(chance: list[float], posts: list[float], *, rise: list[float] | None = None, **more: object) -> Scores:
    """Words that share no post; the first is the current list."""
    values = {
        "chance": np.array(chance),
        "rise": np.zeros(len(chance)) if rise is None else np.array(rise),
        "union": UnionVolume.disjoint(np.array(posts)),
        "covers": tuple(frozenset[int]() for _ in chance),
        "current": np.array([0]),
    }
    return Scores(**(values | more))  # type: ignore[arg-type]


def test_likely_words_are_added_and_unlikely_ones_are_not():
    found = scores([0.9, 0.8, LEAST_RELEVANCE - 0.01], [10, 5, 500]).choose(Limits())
    assert set(found.tolist()) == {0, 1}


def test_a_word_that_would_drown_the_list_has_to_be_surer():
    beside = {"current": np.array([0])}
    assert set(scores([0.9, 0.75], [100, 10], **beside).choose(Limits()).tolist()) == {0, 1}
    assert set(scores([0.9, 0.75], [100, 1000], **beside).choose(Limits()).tolist()) == {0}
    assert set(scores([0.9, 0.99], [100, 1000], **beside).choose(Limits()).tolist()) == {0, 1}


def test_posts_of_the_list_itself_make_no_word_loud():
    only_the_list = {"current": np.array([0]), "outside_known": False}
    assert set(scores([0.9, 0.75], [100, 1000], **only_the_list).choose(Limits()).tolist()) == {0, 1}


def test_a_word_that_brings_nothing_new_is_not_added():
    assert scores([0.9, 0.99], [10, 0]).choose(Limits()).tolist() == [0]


def test_a_likely_word_whose_new_posts_a_sample_does_not_show_is_added_once():
    hidden = scores([0.9, 0.99], [10, 0], unseen=np.array([0.0, 4.0]))
    assert hidden.choose(Limits()).tolist() == [0, 1]


def test_a_keyword_that_does_not_belong_is_dropped_where_its_posts_can_be_seen():
    known = {"current": np.array([0, 1])}
    assert scores([0.9, LEAST_KEPT / 2], [10, 10], **known).choose(Limits()).tolist() == [0]
    unknown = known | {"outside_known": False}
    assert set(scores([0.9, LEAST_KEPT / 2], [10, 10], **unknown).choose(Limits()).tolist()) == {0, 1}


def test_a_keyword_stays_that_the_rest_of_the_list_cannot_judge():
    unsure = {"current": np.array([0, 1]), "unsure": np.array([1])}
    assert set(scores([0.9, LEAST_KEPT / 2], [10, 10], **unsure).choose(Limits()).tolist()) == {0, 1}


def test_a_keyword_without_posts_stays_while_there_is_room():
    silent = scores([0.9, 0.01, 0.9], [10, 0, 20], current=np.array([0, 1]))
    assert set(silent.choose(Limits()).tolist()) == {0, 1, 2}
    assert set(silent.choose(Limits(max_keywords=2)).tolist()) == {0, 2}


def test_the_likeliest_keyword_stays_where_none_belongs():
    assert scores([0.01, 0.02], [10, 10], current=np.array([0, 1])).choose(Limits()).tolist() == [1]


def test_a_narrow_word_gives_way_to_the_wide_one_that_covers_it():
    covers = (frozenset[int](), frozenset({2}), frozenset[int]())
    found = scores([0.9, 0.9, 0.99], [10, 50, 40], covers=covers).choose(Limits())
    assert set(found.tolist()) == {0, 1}


def test_the_dial_at_one_prefers_what_rises_and_at_nought_what_does_not():
    words = scores([0.9, 0.8, 0.8], [100, 20, 20], rise=[0.0, 1.0, -1.0])
    assert words.choose(Limits(max_keywords=2), 1.0).tolist() == [0, 1]
    assert words.choose(Limits(max_keywords=2), 0.0).tolist() == [0, 2]


def test_the_current_list_retains_all_of_itself_and_opens_no_ground():
    found = scores([0.9, 0.8], [10, 5]).score(np.array([0]))
    assert (found.posts, found.retention, found.new_ground) == (10.0, 1.0, 0.0)


def test_more_likely_words_are_worth_more():
    value = worth(np.linspace(0, 1, 11), np.full(11, 20.0), np.zeros(11))
    assert (np.diff(value) > 0).all()


def test_a_hashtag_does_not_cover_its_word_but_the_word_covers_it():
    assert covered_by([Keyword("vote"), Keyword("#vote")]) == (frozenset({1}), frozenset())


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 500)), min_size=2, max_size=12),
    st.integers(1, 6),
    st.floats(1, 400),
    st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_every_list_keeps_within_its_limits(words, most, most_posts, novelty):
    chance, posts = zip(*words, strict=True)
    limits = Limits(max_keywords=most, max_posts=most_posts, forbidden=np.array([len(words) - 1]))
    chosen = scores(list(chance), list(posts)).choose(limits, novelty)
    assert len(chosen) <= most
    assert len(set(chosen.tolist())) == len(chosen)
    assert len(words) - 1 not in chosen
    assert sum(posts[c] for c in chosen) <= most_posts * (1 + 1e-9)


def test_what_is_required_is_in_however_unlikely():
    assert 2 in scores([0.9, 0.8, 0.01], [10, 5, 5]).choose(Limits(required=np.array([2])))
