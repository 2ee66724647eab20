"""Topics follow the keywords: each list has those of the posts that it brings, before any was collected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.advice.advise import KLDAPolicy
from klda.advice.choices import Choices, Seen, topics_under, what_if
from klda.advice.evidence import columns_of
from klda.advice.situation import Situation
from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet
from tests.unit.baselines.few_posts import weekly

FARM = ["the tractor ploughs fields of wheat near the barn", "wheat and barley fields fill the barn with grain"]
WARD = ["nurses staff the hospital ward at night", "the surgeon visits every hospital ward and its nurses"]


@pytest.fixture(scope="module")
def choices() -> Choices:
    posts = [text for text in (*FARM, *WARD) for _ in range(30)]
    history: Corpus = weekly(posts, posts, posts, keywords=("barn", "fields", "ward", "hospital"))
    policy = KLDAPolicy(n_topics=2, predict=True)
    candidates = history.candidates
    found = policy.propose(
        Situation(history, KeywordSet.of("barn"), Budget(max_keywords=4), candidates=candidates),
        generator=np.random.default_rng(0),
    )
    assert found.choices is not None
    return found.choices


def shares_under(choices: Choices, *keywords: str) -> dict[str, float]:
    """The share of the topic of each subject, told by its words, under a list."""
    found = topics_under(choices, columns_of(choices.candidates, KeywordSet.of(*keywords)))
    named = {"farm" if {"wheat", "grain", "tractor"} & set(topic.words[:3]) else "ward": topic.then for topic in found}
    assert set(named) == {"farm", "ward"}
    return named


def test_a_list_has_the_topics_of_the_posts_that_it_brings(choices: Choices) -> None:
    assert shares_under(choices, "barn")["farm"] > 0.8
    assert shares_under(choices, "hospital")["ward"] > 0.8
    both = shares_under(choices, "barn", "hospital")
    assert both["farm"] == pytest.approx(0.5, abs=0.15)
    assert sum(both.values()) == pytest.approx(1.0)


def test_keywords_of_neither_list_are_words_of_topics(choices: Choices) -> None:
    outlook = what_if(choices, ["barn", "hospital"])
    words = {word for topic in outlook.topics for word in topic.words}
    assert {"wheat", "nurses"} <= words
    assert not {"barn", "hospital"} & words


def test_a_word_stands_for_one_topic(choices: Choices) -> None:
    words = [word for topic in what_if(choices, ["barn", "ward"]).topics for word in topic.words]
    assert len(words) == len(set(words)) > 4


def test_the_same_list_has_no_new_words(choices: Choices) -> None:
    for topic in what_if(choices, ["barn"]).topics:
        assert topic.arriving == ()
        assert topic.now == pytest.approx(topic.then)


def test_topics_stay_with_their_posts_when_posts_are_counted_anew(choices: Choices) -> None:
    seen, n = choices.seen, len(choices.seen.posts)
    order = np.arange(n)[::-1]  # the same patterns, numbered from the other end
    place = np.argsort(order)
    sort = np.argsort(place[seen.pattern], kind="stable")
    turned = Seen(place[seen.pattern][sort], seen.keyword[sort], seen.posts[order])
    again = replace(choices, seen=turned, topics=None).with_topics_of(choices)
    assert shares_under(again, "barn", "ward") == pytest.approx(shares_under(choices, "barn", "ward"))


def test_posts_that_were_not_looked_at_count_as_their_keywords(choices: Choices) -> None:
    assert choices.topics is not None
    unknown = replace(choices.topics, shares=np.zeros_like(choices.topics.shares))
    assert shares_under(replace(choices, topics=unknown), "hospital")["ward"] > 0.8
