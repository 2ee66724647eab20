"""A list with exclusions and queries, from posts to advice, forecast, what-if and JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from klda import Corpus, Proposal, recommend
from klda.errors import DataError, QueryError, SettingError
from klda.types import KeywordSet, Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
PHONES = ["apple iphone launch", "apple iphone price", "ios update by apple", "iphone camera", "new ios camera"]
RECIPES = ["apple pie recipe", "apple pie with cinnamon", "cinnamon pie recipe", "apple cinnamon cake"]
OTHERS = ["weather in town", "football match tonight", "the match was long", "rain and weather"]


def posts(weeks: int = 4) -> list[Post]:
    texts = [*PHONES, *RECIPES, *OTHERS] * 8
    step = timedelta(days=7) / len(texts)
    return [
        Post(f"{week}-{i}", MONDAY + week * timedelta(days=7) + i * step, f"{text} {i % 7}")
        for week in range(weeks)
        for i, text in enumerate(texts)
    ]


def advised(*keywords: str, **settings: object) -> Proposal:
    return recommend(posts(), KeywordSet.of(*keywords), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["klda", "counting", "static", "ensemble"])
def test_exclusions_stay_on_the_list_and_their_posts_are_in_no_number(policy: str) -> None:
    plain, without = advised("apple", policy=policy), advised("apple", "-pie", "-cinnamon", policy=policy)
    assert {"-pie", "-cinnamon"} <= set(without.next_keywords.texts)
    assert without.current.texts == ("apple", "-pie", "-cinnamon")
    assert plain.posts_now is not None
    assert without.posts_now is not None
    assert without.posts_now.mean == pytest.approx(plain.posts_now.mean / 2)
    assert without.reason("-pie").text == "An exclusion: posts with it are left out."  # type: ignore[union-attr]
    assert not {"pie", "cinnamon", "recipe"} & set(without.ranked.texts)


def test_a_query_is_a_keyword_like_any_other() -> None:
    advice = advised("apple AND (iphone OR ios)", '"ios camera"')
    assert advice.current.texts == ("apple AND (iphone OR ios)", '"ios camera"')
    assert advice.posts_now is not None
    assert advice.posts_now.mean == pytest.approx(24 + 8)
    assert all("pie" not in example.text for reason in advice.reasons for example in reason.examples)


def test_a_proposal_with_exclusions_and_queries_is_read_back_from_json() -> None:
    advice = advised("apple -(pie OR cake)", "ios", "-cinnamon")
    assert Proposal.from_json(advice.to_json()) == advice


def test_what_if_weighs_a_new_exclusion_and_keeps_those_in_force() -> None:
    advice = advised("apple", "-cinnamon")
    now, then = advice.what_if(["apple", "-cinnamon"]), advice.what_if(["apple", "-cinnamon", "-pie"])
    assert now.keywords.texts == ("apple", "-cinnamon")
    assert then.keywords.texts == ("apple", "-cinnamon", "-pie")
    assert now.retention == pytest.approx(1)
    assert now.expected_posts.mean == pytest.approx(32)
    assert then.expected_posts.mean == pytest.approx(24)
    assert then.retention == pytest.approx(0.75)


def test_what_if_weighs_a_second_word() -> None:
    advice = advised("apple", "camera")
    assert advice.what_if(["apple AND ios"]).expected_posts.mean == pytest.approx(8)


def test_a_list_of_exclusions_alone_is_refused() -> None:
    with pytest.raises(SettingError, match="no exclusion"):
        advised("-pie")
    with pytest.raises(DataError, match="empty list brings nothing"):
        advised("apple").what_if(["-pie"])


def test_a_wrong_query_is_refused_where_it_is_typed() -> None:
    with pytest.raises(QueryError, match="not closed"):
        recommend(posts(), "apple, camera AND (ios")


def test_a_corpus_that_was_made_with_other_exclusions_gives_the_same_advice() -> None:
    made = Corpus.from_posts(posts(), ["apple", "-ios"])
    assert recommend(made, KeywordSet.of("apple", "-pie")).posts_now == advised("apple", "-pie").posts_now
