"""What company a word keeps: do its new posts also have other words that are likely on the subject?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from klda import Corpus
from klda.advice.constants import LEAST_COMPANY, MOST_COMPANY
from klda.advice.relevance import company_of
from klda.advice.terms import Terms, terms_of
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
TEXTS = [
    "the election office counts every ballot",
    "a ballot and an absentee form came by mail",
    "absentee voters wait for a ballot",
    "my dog sleeps while the kettle sings",
    "the kettle sings and the dog barks",
    "an election and a dog, the kettle is off",
]


def terms(whole: bool = True) -> Terms:
    posts = [Post(str(i), MONDAY + timedelta(minutes=i), f"{TEXTS[i % 6]} {i % 13}") for i in range(300)]
    corpus = Corpus.from_posts(posts, ["election"], settings=TextSettings(min_count=3))
    return terms_of(corpus if whole else corpus.without_apart(), KeywordSet.of("election"))


def chances(found: Terms, **given: float) -> np.ndarray:
    return np.array([given.get(keyword.text, 0.1) for keyword in found.keywords])


def slow(found: Terms, chance: np.ndarray, outside_known: bool) -> np.ndarray:
    """The same, post by post."""
    n = found.n_current
    likely = [c for c in range(n, len(found)) if chance[c] >= LEAST_COMPANY]
    posts = [set(row.nonzero()[0].tolist()) for row in found.posts.toarray()]

    def belongs(post: set[int], but: int) -> float:
        doubt = 1.0
        for c in likely:
            if c in post and c != but:
                doubt *= 1 - min(chance[c], MOST_COMPANY)
        return 1 - doubt

    def new(post: set[int], of: int) -> bool:
        return not outside_known or not any(c < n and c != of for c in post)

    fresh = [post for post in posts if new(post, -1)]
    usual = sum(belongs(post, -1) for post in fresh) / len(fresh) + 1e-3
    answer = []
    for c in range(len(found)):
        mine = [post for post in posts if c in post and new(post, c)]
        shown = sum(belongs(post, c) + 1e-3 for post in mine)
        answer.append(np.log((shown + 2 * usual) / (len(mine) + 2) / usual))
    return np.array(answer)


@pytest.mark.parametrize("outside_known", [True, False])
def test_company_is_counted_over_new_posts_without_the_word_itself(outside_known: bool) -> None:
    found = terms(outside_known)
    chance = chances(found, ballot=0.97, absentee=0.6, dog=0.35)
    assert company_of(found, chance, outside_known) == pytest.approx(slow(found, chance, outside_known))


def test_a_word_beside_likely_words_keeps_better_company_than_one_beside_others() -> None:
    found = terms()
    place = {keyword.text: at for at, keyword in enumerate(found.keywords)}
    company = company_of(found, chances(found, ballot=0.9), outside_known=True)
    assert company[place["absentee"]] > 0.5 > -0.5 > company[place["kettle"]]


def test_a_likely_word_is_not_company_for_itself() -> None:
    found = terms()
    place = {keyword.text: at for at, keyword in enumerate(found.keywords)}
    alone = company_of(found, chances(found, ballot=0.9), outside_known=True)
    assert alone[place["ballot"]] < 0


def test_without_a_likely_word_nobody_keeps_company() -> None:
    found = terms()
    assert company_of(found, chances(found), outside_known=True) == pytest.approx(np.zeros(len(found)), abs=1e-9)
