"""Which hashtags are tried beside a list, and which stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from klda.corpus.corpus import Corpus
from klda.policies.company import judged, untried_tags
from klda.policies.klda import KLDAPolicy
from klda.types import Budget, KeywordSet
from tests.unit.policies.few_posts import SUBJECT, evidence_of, names, subject_week, weekly


def _listing(corpus: Corpus, *keywords: str) -> Corpus:
    """The corpus of a filter that never had other keywords."""
    return corpus.with_history([KeywordSet.of(*keywords)] * corpus.n_windows)


def _tagged(*weeks: str) -> Corpus:
    """Weeks of posts on the subject, half of which carry these words besides."""
    posts = [[f"{text} {tag}" if i % 2 else text for i, text in enumerate(subject_week()[:40])] for tag in weeks]
    return _listing(weekly(*posts, keywords=(*SUBJECT, "#leakgate", "#morning")), *SUBJECT)


def test_a_coined_hashtag_beside_several_keywords_is_to_be_tried() -> None:
    corpus = _tagged("", "", "#leakgate")
    evidence = evidence_of(corpus, *SUBJECT)
    assert names(corpus, untried_tags(evidence, evidence.current, needed=0.15)) == {"#leakgate"}


def test_a_hashtag_that_is_an_ordinary_word_is_not_tried() -> None:
    corpus = _tagged("", "", "#morning")
    evidence = evidence_of(corpus, *SUBJECT)
    assert not len(untried_tags(evidence, evidence.current, needed=0.15))


def test_a_hashtag_that_hardly_anybody_uses_is_not_tried() -> None:
    week = [*subject_week(), *(f"privacy leak again {i}" for i in range(400))]
    last = [f"{text} #leakgate" if i in (0, 1, 2, 3, 35) else text for i, text in enumerate(week)]
    corpus = _listing(weekly(week, week, last, keywords=(*SUBJECT, "#leakgate")), *SUBJECT)
    evidence = evidence_of(corpus, *SUBJECT)
    assert not len(untried_tags(evidence, evidence.current, needed=0.15))


def test_beside_words_that_were_never_asked_for_no_hashtag_is_tried() -> None:
    corpus = _tagged("", "", "#leakgate")
    evidence = evidence_of(corpus, "#morning")
    assert not len(untried_tags(evidence, evidence.columns(KeywordSet.of(*SUBJECT)), needed=0.15))


def test_where_no_table_says_how_common_words_are_hashtags_are_tried_all_the_same() -> None:
    corpus = _tagged("", "", "#leakgate")
    vocabulary = replace(corpus.vocabulary, language="eu")
    evidence = evidence_of(replace(corpus, vocabulary=vocabulary), *SUBJECT)
    assert names(corpus, untried_tags(evidence, evidence.current, needed=0.3)) == {"#leakgate"}


def test_a_hashtag_beside_one_keyword_of_several_is_not_tried() -> None:
    week = [*subject_week()[:40], *(f"privacy #leakgate {i}" for i in range(10))]
    corpus = _listing(weekly(week, week, week, keywords=(*SUBJECT, "#leakgate")), *SUBJECT)
    evidence = evidence_of(corpus, *SUBJECT)
    assert not len(untried_tags(evidence, evidence.current, needed=0.15))


def test_beside_a_single_keyword_a_hashtag_is_tried() -> None:
    week = [f"marathon today {i} #runforall" for i in range(10)] + [f"marathon again {i}" for i in range(30)]
    corpus = _listing(weekly(week, week, week, keywords=("marathon", "#runforall", "today")), "marathon")
    current = KeywordSet.of("marathon")
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=current)
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert proposal.add.texts == ("#runforall",)


def _with_tag_tried(others: str) -> Corpus:
    """Three weeks; `#leakgate` was on the list of the second, and brought 20 posts of its own that week."""
    alone = [f"#leakgate {others} {i}" for i in range(20)]
    corpus = weekly(
        subject_week(),
        [*subject_week("#leakgate"), *alone],
        subject_week("#leakgate"),
        keywords=(*SUBJECT, "#leakgate"),
    )
    first = KeywordSet.of(*SUBJECT)
    return corpus.with_history([first, first | KeywordSet.of("#leakgate"), first])


def test_a_tried_hashtag_is_judged_by_the_posts_that_it_brought() -> None:
    shares = []
    for others in ("what a warrant", "my lunch was so"):
        evidence = evidence_of(_with_tag_tried(others), *SUBJECT)
        assert not len(untried_tags(evidence, evidence.current, needed=0.15))
        found = judged(evidence, evidence.current)
        (tag,) = evidence.columns(KeywordSet.of("#leakgate"))
        shares.append(float(found.share[found.columns == tag][0]))
    in_company, alone = shares
    assert in_company > alone + 0.05


def test_a_hashtag_that_is_not_listed_now_does_not_raise_what_others_need() -> None:
    words = ("people", "money", "morning", "story")
    week = [f"{word} again number {i}" for word in words for i in range(30)]
    tried = [*week, *(f"{word} #leakgate {i}" for word in words for i in range(50))]
    corpus = weekly(week, tried, week, keywords=(*words, "#leakgate"))
    first = KeywordSet.of(*words)
    needed = [
        judged(evidence_of(corpus.with_history([first, then, first]), *words), np.arange(len(words))).needed
        for then in (first, first | KeywordSet.of("#leakgate"))
    ]
    never, once = needed
    assert abs(once - never) < 0.01
