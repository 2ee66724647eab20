"""Words that were added, judged by the posts that they brought."""

from __future__ import annotations

import numpy as np
import pytest

from klda.corpus.corpus import Corpus
from klda.policies.company import judged
from klda.policies.klda import KLDAPolicy
from klda.types import Budget, KeywordSet
from tests.unit.policies.few_posts import evidence_of, names, weekly

FIRST = ("baseball", "orioles", "pitcher", "spring")
ADDED = ("dodgers", "breakers")


def _week() -> list[str]:
    """Both words are seen beside the list alike; without it, one speaks of the sport and the other of a film."""
    sport = [f"{one} {other} inning homer bullpen" for one in FIRST[:3] for other in FIRST[:3] if one < other] * 4
    beside = [f"{one} {word} tickets {i}" for word in ADDED for one in ("spring", "baseball") for i in range(4)]
    game = [f"dodgers inning bullpen homer number {i}" for i in range(12)]
    film = [f"breakers film actress trailer number {i}" for i in range(12)]
    return sport + [f"spring flowers in the garden {i}" for i in range(30)] + beside + game + film


def _sample() -> list[str]:
    things = ("lunch", "dog", "film", "garden", "trailer", "song", "tickets", "weather")
    return [f"my {things[i % 8]} and a {things[(i + 3) % 8]} today {i}" for i in range(50)]


def _corpus(sample: list[str]) -> Corpus:
    weeks = [_week() + sample for _ in range(3)]
    corpus = weekly(*weeks, keywords=(*FIRST, *ADDED))
    first, then = KeywordSet.of(*FIRST), KeywordSet.of(*FIRST, *ADDED)
    return corpus.with_history([first, then, then])


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return _corpus(_sample())


def test_an_added_word_goes_when_its_own_posts_speak_of_something_else(corpus: Corpus) -> None:
    evidence = evidence_of(corpus, *FIRST, *ADDED)
    listed = judged(evidence, evidence.columns(KeywordSet.of(*FIRST)), sampled=True)
    assert names(corpus, listed.out_of_place()) == {"breakers"}
    (why,) = listed.out_of_place().values()
    assert why.endswith("of its posts carry one of the first keywords, and 0% of the others speak of the subject")


def test_the_company_that_it_keeps_does_not_tell_them_apart(corpus: Corpus) -> None:
    evidence = evidence_of(corpus, *FIRST, *ADDED)
    company = judged(evidence, evidence.columns(KeywordSet.of(*FIRST)), sampled=True).company
    one, other = evidence.columns(KeywordSet.of(*ADDED))
    assert company.rate[one] == pytest.approx(company.rate[other])


def test_too_small_a_sample_leaves_the_judgement_to_company() -> None:
    evidence = evidence_of(_corpus(_sample()[:20]), *FIRST, *ADDED)
    listed = judged(evidence, evidence.columns(KeywordSet.of(*FIRST)), sampled=True)
    assert np.isnan(listed.speaking).all()


def test_three_keywords_do_not_tell_what_the_subject_is(corpus: Corpus) -> None:
    evidence = evidence_of(corpus, *FIRST, *ADDED)
    listed = judged(evidence, evidence.columns(KeywordSet.of(*FIRST[:3])), sampled=True)
    assert np.isnan(listed.speaking).all()


def test_what_was_not_on_the_list_yet_is_not_held_against_a_word(corpus: Corpus) -> None:
    """Posts of a window before it was added are there because of other keywords, or by the luck of the sample."""
    late = corpus.with_history([KeywordSet.of(*FIRST)] * 2 + [KeywordSet.of(*FIRST, *ADDED)])
    evidence = evidence_of(late, *FIRST, *ADDED)
    assert judged(evidence, evidence.columns(KeywordSet.of(*FIRST)), sampled=True).company.posts[-1] == 20


def test_the_default_policy_drops_it_with_that_reason(corpus: Corpus) -> None:
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=KeywordSet.of(*FIRST))
    current = KeywordSet.of(*FIRST, *ADDED)
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert proposal.drop.texts == ("breakers",)
    (dropped,) = (reason for reason in proposal.reasons if reason.action == "drop")
    assert "speak of the subject" in dropped.text
