"""Judging a list by its own posts."""

from __future__ import annotations

import numpy as np

from klda.corpus.corpus import Corpus
from klda.policies.company import Sighted, beside_which, breaking, judged, sighted
from klda.policies.klda import KLDAPolicy
from klda.selection.company import Company
from klda.types import Budget, KeywordSet
from tests.unit.policies.few_posts import SUBJECT, evidence_of, names, subject_week, weekly


def _collected(*weeks: list[str]) -> Corpus:
    return weekly(*weeks, keywords=(*SUBJECT, "facebook", "whistleblower", "lunch"))


def test_a_keyword_that_comes_alone_is_out_of_place() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week())
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    gone = judged(evidence, evidence.current).out_of_place()
    assert names(corpus, gone) == {"facebook"}
    (why,) = gone.values()
    assert "0% of its posts carry another of the first keywords" in why
    assert why.startswith("brings more noise than news, judged by how common a word it is")


def test_a_pair_that_always_comes_together_does_not_empty_the_list() -> None:
    """Beside `north korea` every other keyword keeps no company; most of what was asked for stays all the same."""
    countries = ("china", "japan", "israel", "panama")
    week = [f"north korea again {i}" for i in range(40)] + [
        f"{c} in the news {i}" for c in countries for i in range(25)
    ]
    corpus = weekly(week, week, week, keywords=("north", "korea", *countries))
    evidence = evidence_of(corpus, "north", "korea", *countries)
    gone = judged(evidence, evidence.current).out_of_place()
    assert len(gone) <= 3
    assert names(corpus, gone) < set(countries)


def test_a_common_word_goes_before_a_rare_one_that_keeps_the_same_company() -> None:
    words = ("nebula", "telescope", "galaxy", "morning", "jupiter", "thing")
    week = [f"{one} {other} seen" for one in words[:3] for other in words[:3] if one < other] * 10
    week += [f"{word} again number {i}" for word in words for i in range(8)]
    corpus = weekly(week, week, week, keywords=words)
    evidence = evidence_of(corpus, *words)
    gone = names(corpus, judged(evidence, evidence.current).out_of_place())
    assert {"morning", "thing"} <= gone
    assert "jupiter" not in gone


def test_a_common_word_that_keeps_company_like_the_rest_stays() -> None:
    """Where the subject is most of what is said, everyday words belong to it too."""
    words = ("health", "insulin", "hospital", "therapy", "nurse", "clinic")
    week = [f"{one} and {other} today {i}" for one in words for other in words if one < other for i in range(4)]
    week += [f"{word} alone number {i}" for word in words for i in range(20)]
    corpus = weekly(week, week, week, keywords=words)
    evidence = evidence_of(corpus, *words)
    assert not judged(evidence, evidence.current).out_of_place()


def test_the_word_that_brings_most_posts_stays_when_the_news_leaves_the_others_behind() -> None:
    """Where the subject is much of what is said, `health` is what the list is about, whatever company it loses."""
    others = ("doctor", "hospital", "surgeon", "generic", "insulin")  # the two that are common are hardly used
    calm = [f"{one} {other} cost" for one in others[2:] for other in others[2:] if one < other] * 20
    calm += [f"health {other} plan {i}" for other in others for i in range(4)]
    news = [f"health news of the day number {i}" for i in range(400)]
    corpus = weekly(calm, calm, calm + news, keywords=("health", *others))
    evidence = evidence_of(corpus, "health", *others)
    listed = judged(evidence, evidence.current)
    assert not names(corpus, listed.out_of_place())
    assert names(corpus, listed.columns[~listed.worth]) == {"health"}  # by its company alone it would go


def test_a_common_word_is_no_news_however_it_bursts() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week("people"))
    corpus = corpus.with_candidates(corpus.candidates | KeywordSet.of("people"))
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    assert not len(breaking(evidence, evidence.current))


def _whole_stream(*weeks: list[str]) -> Corpus:
    """The same, with the posts that no list would have collected."""
    outside = [f"{word} of somebody else {i}" for word in ("lunch", "birthday") for i in range(60)]
    return weekly(*(week + outside for week in weeks), keywords=(*SUBJECT, "whistleblower", "lunch", "birthday"))


def test_a_word_that_the_stream_uses_without_the_subject_is_unproven() -> None:
    corpus = _whole_stream(subject_week(), subject_week("whistleblower"), subject_week("whistleblower"))
    evidence = evidence_of(corpus, *SUBJECT)
    held = sighted(evidence, evidence.current, judged(evidence, evidence.current)).unproven()
    assert names(corpus, held) == {"lunch", "birthday"}
    assert all("0% of its known posts carry one of the first keywords" in why for why in held.values())


def test_what_speaks_for_a_word_is_said_with_what_it_takes() -> None:
    corpus = _whole_stream(subject_week(), subject_week("whistleblower"), subject_week("whistleblower"))
    evidence = evidence_of(corpus, *SUBJECT)
    found = sighted(evidence, evidence.current, judged(evidence, evidence.current))
    (why,) = found.proven().values()
    assert why.startswith("worth its posts, judged by how common a word it is")
    assert all(why.startswith("would bring more noise than news") for why in found.unproven().values())


def test_only_the_surest_few_words_that_are_worth_it_are_tried_at_once() -> None:
    share = np.array([0.3, 0.05, 0.5, 0.2, 0.4])
    known = Company(np.ones(5), np.zeros(5), np.zeros(5, dtype=bool))
    assert Sighted(np.arange(10, 15), share, known, needed=0.1).to_try(4).tolist() == [12, 14, 10]
    assert Sighted(np.arange(10, 15), share, known, needed=0.35).to_try(4).tolist() == [12, 14]
    assert not len(Sighted(np.arange(10, 15), share, known, needed=0.1).to_try(3))


def test_with_the_stream_in_sight_the_default_policy_adds_only_what_is_proven() -> None:
    corpus = _whole_stream(subject_week(), subject_week("whistleblower"), subject_week("whistleblower"))
    current = KeywordSet.of(*SUBJECT)
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=current, novelty=1.0)
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert set(proposal.add.texts) <= {"whistleblower"}


def _thin_sample(*weeks: list[str]) -> Corpus:
    """What a filter collected, and a few of all other posts, many of which have lunch in them."""
    elsewhere = [f"an ordinary {thing} and my lunch number {i}" for thing in ("walk", "song") for i in range(20)]
    beside = [f"{word} over lunch {i}" for word in SUBJECT for i in range(3)]
    words = (*SUBJECT, "whistleblower", "lunch")
    return weekly(*(week + beside + elsewhere for week in weeks), keywords=words)


def test_what_a_thin_sample_shows_everywhere_is_unproven_however_often_it_is_seen_beside_the_list() -> None:
    told = [f"{one} and the whistleblower {i}" for one in SUBJECT for i in range(5)]
    corpus = _thin_sample(subject_week(), subject_week() + told, subject_week() + told)
    evidence = evidence_of(corpus, *SUBJECT)
    held = names(corpus, sighted(evidence, evidence.current, judged(evidence, evidence.current)).unproven())
    assert "lunch" in held
    assert "whistleblower" not in held


def test_a_rare_word_in_the_best_company_is_unproven_when_a_sample_holds_it_as_often() -> None:
    """Company says too much: all posts with a keyword are known, and of the others a sample only."""
    beside = [f"{one} and the nebula {i}" for one in SUBJECT for i in range(8)]
    for n_elsewhere, proven in ((0, True), (60, False)):
        sample = [f"nebula of a thing {i}" for i in range(n_elsewhere)]
        sample += [f"nothing in particular {i}" for i in range(120 - n_elsewhere)]
        corpus = weekly(*[subject_week() + beside + sample] * 3, keywords=(*SUBJECT, "nebula"))
        evidence = evidence_of(corpus.with_history([KeywordSet.of(*SUBJECT)] * 3), *SUBJECT)
        found = sighted(evidence, evidence.current, judged(evidence, evidence.current))
        assert ("nebula" in names(corpus, found.proven())) is proven
        assert found.company.rate[0] > 0.3


def test_news_comes_in_with_a_sample_at_hand_too() -> None:
    corpus = _thin_sample(subject_week(), subject_week(), subject_week("whistleblower"))
    current = KeywordSet.of(*SUBJECT)
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=current)
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert proposal.add.texts == ("whistleblower",)


def test_a_keyword_that_was_dropped_may_come_back() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week())
    current = KeywordSet.of(*SUBJECT[:4])
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=KeywordSet.of(*SUBJECT))
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert SUBJECT[4] not in {reason.keyword for reason in proposal.reasons if reason.action == "hold"}


def test_a_list_of_three_words_is_not_judged_by_their_company() -> None:
    evidence = evidence_of(_collected(subject_week(), subject_week(), subject_week()), "privacy", "leak", "facebook")
    assert judged(evidence, evidence.current).out_of_place() == {}


def test_a_word_that_breaks_out_beside_several_keywords_is_news() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week("whistleblower"))
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    assert names(corpus, breaking(evidence, evidence.current)) == {"whistleblower"}


def test_a_word_that_breaks_out_beside_one_keyword_is_not_news() -> None:
    last = subject_week() + [f"facebook whistleblower {i}" for i in range(30)]
    corpus = _collected(subject_week(), subject_week(), last)
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    assert not len(breaking(evidence, evidence.current))


def test_a_word_that_grows_with_the_whole_subject_is_not_news() -> None:
    usual = subject_week("whistleblower")[:6]
    calm, loud = subject_week() + usual, 4 * subject_week() + 4 * usual
    corpus = _collected(calm, calm, loud)
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    assert not len(breaking(evidence, evidence.current))


def test_the_default_policy_drops_the_stranger_and_adds_the_news() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week("whistleblower"))
    current = KeywordSet.of(*SUBJECT, "facebook")
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=current)
    proposal = policy.propose(corpus, current, corpus.candidates, Budget(), generator=np.random.default_rng(0))
    assert proposal.drop.texts == ("facebook",)
    assert proposal.add.texts == ("whistleblower",)
    dropped = next(reason for reason in proposal.reasons if reason.action == "drop")
    assert "carry another of the first keywords" in dropped.text


def test_keywords_that_went_do_not_count_among_those_that_stay() -> None:
    """Else a list would shrink week by week: the few posts of those that went leave all the doubt in their favour."""
    words = (*SUBJECT, "morning", "thing", "people")
    alone = [f"{word} alone number {i}" for word in SUBJECT[:4] for i in range(40)]
    corpus = weekly(alone, alone, alone, keywords=words)
    evidence = evidence_of(corpus, *SUBJECT[:4])
    gone = judged(evidence, np.arange(len(words))).out_of_place()
    assert not names(corpus, gone) & set(SUBJECT[:4])


def test_required_keywords_stay_whatever_company_they_keep() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week())
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


def test_what_speaks_for_an_addition_is_said_with_the_keywords_that_it_stands_beside() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week("whistleblower"))
    evidence = evidence_of(corpus, *SUBJECT, "facebook")
    column = corpus.candidates.index("whistleblower")
    assert beside_which(evidence, column, evidence.current, evidence.last) == "privacy, spying, leak and 2 more"
    policy = KLDAPolicy(n_topics=2, iterations=5, founding=KeywordSet.of(*SUBJECT))
    proposal = policy.propose(
        corpus, KeywordSet.of(*SUBJECT), corpus.candidates, Budget(), generator=np.random.default_rng(0)
    )
    (added,) = (reason for reason in proposal.reasons if reason.action == "add")
    assert added.text.startswith("breaks out beside privacy, spying, leak and 2 more; extends ")


def test_a_burst_names_the_keywords_of_the_last_window_only() -> None:
    before = [f"warrant whistleblower {i}" for i in range(5)] + subject_week()
    last = [f"{one} whistleblower {i}" for one in ("leak", "privacy", "spying") for i in range(9)] + subject_week()
    corpus = _collected(before, before, before, last)
    evidence = evidence_of(corpus, *SUBJECT)
    column = corpus.candidates.index("whistleblower")
    assert "warrant" not in beside_which(evidence, column, evidence.current, evidence.last, 2)
    assert "warrant" in beside_which(evidence, column, evidence.current, evidence.history)


def test_a_first_keyword_that_comes_back_says_why() -> None:
    corpus = _collected(subject_week(), subject_week(), subject_week())
    listed = judged(evidence_of(corpus, *SUBJECT[:4]), np.arange(5))
    (said,) = listed.back_in_place(np.arange(4)).values()
    assert said.startswith("on the list before, and worth its posts, judged by ")
    assert "carry another of the first keywords" in said
