"""Judging a list by its own posts."""

from __future__ import annotations

import numpy as np

from klda.corpus.corpus import Corpus
from klda.policies.company import breaking, out_of_place
from klda.policies.klda import KLDAPolicy
from klda.types import Budget, KeywordSet
from tests.unit.policies.few_posts import evidence_of, weekly

SUBJECT = ("privacy", "spying", "leak", "warrant", "wiretap")


def _week(news: str = "") -> list[str]:
    """Posts in which the words of a subject come together, and a word of everything that comes alone."""
    pairs = [f"{one} {other} {news} again" for one in SUBJECT for other in SUBJECT if one < other]
    alone = [f"{word} in the morning paper number {i}" for word in SUBJECT for i in range(6)]
    return pairs + alone + [f"facebook photo of my lunch {i} thanks" for i in range(20)]


def _collected(*weeks: list[str]) -> Corpus:
    return weekly(*weeks, keywords=(*SUBJECT, "facebook", "whistleblower", "lunch"))


def _names(corpus: Corpus, columns: object) -> set[str]:
    return {corpus.candidates[int(column)].text for column in columns}  # type: ignore[attr-defined]


def test_a_keyword_that_comes_alone_is_out_of_place() -> None:
    corpus = _collected(_week(), _week(), _week())
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    gone = out_of_place(evidence, evidence.current)
    assert _names(corpus, gone) == {"facebook"}
    (why,) = gone.values()
    assert "0% of its posts carry another of the first keywords" in why


def test_a_pair_that_always_comes_together_does_not_empty_the_list() -> None:
    """Beside `north korea` every other keyword is a stranger; half of what was asked for stays."""
    countries = ("china", "japan", "israel", "panama")
    week = [f"north korea again {i}" for i in range(40)] + [
        f"{c} in the news {i}" for c in countries for i in range(25)
    ]
    corpus = weekly(week, week, week, keywords=("north", "korea", *countries))
    evidence = evidence_of(corpus, "north", "korea", *countries)
    gone = out_of_place(evidence, evidence.current)
    assert len(gone) == 3
    assert _names(corpus, gone) < set(countries)


def test_a_list_of_three_words_is_not_judged_by_their_company() -> None:
    evidence = evidence_of(_collected(_week(), _week(), _week()), "privacy", "leak", "facebook")
    assert out_of_place(evidence, evidence.current) == {}


def test_a_word_that_breaks_out_beside_several_keywords_is_news() -> None:
    corpus = _collected(_week(), _week(), _week("whistleblower"))
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    assert _names(corpus, breaking(evidence, evidence.current)) == {"whistleblower"}


def test_a_word_that_breaks_out_beside_one_keyword_is_not_news() -> None:
    last = _week() + [f"facebook whistleblower {i}" for i in range(30)]
    corpus = _collected(_week(), _week(), last)
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    assert not len(breaking(evidence, evidence.current))


def test_the_default_policy_drops_the_stranger_and_adds_the_news() -> None:
    corpus = _collected(_week(), _week(), _week("whistleblower"))
    current = KeywordSet.of(*SUBJECT, "facebook")
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=current)
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert proposal.drop.texts == ("facebook",)
    assert proposal.add.texts == ("whistleblower",)
    dropped = next(reason for reason in proposal.reasons if reason.action == "drop")
    assert "carry another of the first keywords" in dropped.text


def test_required_keywords_stay_whatever_company_they_keep() -> None:
    corpus = _collected(_week(), _week(), _week())
    current = KeywordSet.of(*SUBJECT, "facebook")
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=current)
    kept = policy.propose(
        corpus,
        current,
        corpus.candidates,
        Budget(required=KeywordSet.of("facebook")),
        generator=np.random.default_rng(0),
    )
    assert "facebook" in kept.next_keywords.texts
