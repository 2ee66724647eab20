"""From posts to the chance of each word: candidates, features, relevance, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from klda import Corpus, recommend
from klda.advice.advise import judged, unsure
from klda.advice.features import CONTEXT, MEANING, NAMES, features_of
from klda.advice.reasons import NOTES, SENTENCES, in_words, note
from klda.advice.relevance import REGIMES, groups_known, relevance, shipped, weighed
from klda.advice.terms import terms_of
from klda.simulation import World
from klda.text.text_settings import TextSettings
from klda.text.vectors import word_vectors
from klda.types import Budget, KeywordSet, Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
ON = [
    "every {} must be counted before the election says the clerk",
    "absentee {} arrive late in the county and voters wait",
    "the election office mails a {} to all voters",
]
OFF = ["my dog sleeps in the garden {}", "great pasta for dinner {}", "traffic on the bridge {}", "new shoes today {}"]


def posts(weeks: int = 3, per_week: int = 120) -> list[Post]:
    """A third of the posts is about an election; ballots come with and without the keyword."""
    found = []
    for i in range(weeks * per_week):
        text = ON[(i // 3) % 3].format("ballot" if i % 2 else "ballots") if i % 3 == 0 else OFF[i % 4].format(i % 7)
        text += f" {i % 11}"  # texts differ: copies make no phrase
        found.append(Post(str(i), MONDAY + timedelta(weeks=i / per_week), text))
    return found


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_posts(posts(), ["election"], settings=TextSettings(min_count=3))


def test_current_keywords_come_first_and_forms_of_one_word_are_together(corpus: Corpus) -> None:
    terms = terms_of(corpus, KeywordSet.of("election"))
    assert terms.keywords[0].text == "election"
    [ballot] = [k for k in terms.keywords if "ballot" in k.forms]
    assert "ballots" in ballot.forms
    assert any(k.text == "absentee ballots" or "absentee ballots" in k.forms for k in terms.keywords)


def test_a_word_that_is_named_is_there_however_rare(corpus: Corpus) -> None:
    terms = terms_of(corpus, KeywordSet.of("election"), KeywordSet.of("xylophone"))
    assert terms.keywords[1].text == "xylophone"
    assert terms.posts[:, [1]].sum() == 0


def test_a_form_of_a_current_keyword_counts_its_own_posts_alone(corpus: Corpus) -> None:
    terms = terms_of(corpus, KeywordSet.of("ballot"))
    [other] = [c for c, k in enumerate(terms.keywords) if k.forms == ("ballots",)]
    texts = [post.text for post in posts()]
    assert terms.posts[:, [other]].sum() == sum("ballots" in text for text in texts)


def test_what_cannot_be_known_is_missing(corpus: Corpus) -> None:
    alone = corpus.without_apart()
    features = features_of(terms_of(alone, KeywordSet.of("election")), use_vectors=False)
    missing = np.isnan(features.values).all(axis=0)
    assert {name for name, gone in zip(NAMES, missing, strict=True) if gone} >= {"lift", "beside", *CONTEXT, *MEANING}
    assert not features.outside_known


@pytest.mark.parametrize("use_vectors", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_every_term_has_a_chance_whatever_is_known(corpus: Corpus, whole: bool, use_vectors: bool) -> None:
    known = corpus if whole else corpus.without_apart()
    features, chance = judged(terms_of(known, KeywordSet.of("election")), use_vectors=use_vectors)
    assert groups_known(features) in REGIMES
    assert ((chance >= 0) & (chance <= 1)).all()
    assert np.isfinite(relevance(features)).all()


@pytest.mark.skipif(word_vectors(["a"]) is None, reason="the package of vectors is not installed")
def test_a_list_is_about_the_keyword_that_brings_most_unless_its_subject_is_told() -> None:
    every = ("dog", "bridge", "dinner", "shoes", "election")
    many = Corpus.from_posts(posts(per_week=600), every, settings=TextSettings(min_count=3))
    terms = terms_of(many, KeywordSet.of(*every))
    counts = np.asarray(terms.posts[:, :5].sum(axis=0)).ravel()
    assert counts[4] < counts[:4].sum(), "none brings more than the others together"
    assert not unsure(terms, features_of(terms), "en").any()
    rare = ("harbour", "ferry", "canal", "tunnel")
    further = [Post(f"r{i}", MONDAY + timedelta(hours=i), f"the {rare[i % 4]} opens {i}") for i in range(160)]
    listed = KeywordSet.of(*rare, "election")
    one = terms_of(Corpus.from_posts([*posts(per_week=600), *further], listed), listed)
    assert unsure(one, features_of(one), "en").tolist() == [False] * 4 + [True]
    assert not unsure(one, features_of(one, subject="roads and bridges"), "en").any()


@pytest.mark.skipif(word_vectors(["a"]) is None, reason="the package of vectors is not installed")
def test_a_short_list_drops_nothing_unless_its_subject_is_told() -> None:
    every = ("dog", "bridge", "dinner")
    many = Corpus.from_posts(posts(per_week=600), every, settings=TextSettings(min_count=3))
    terms = terms_of(many, KeywordSet.of(*every))
    assert unsure(terms, features_of(terms), "en").all()
    assert not unsure(terms, features_of(terms, subject="elections"), "en").any()


def test_a_sample_stands_for_the_posts_that_it_leaves_out(corpus: Corpus) -> None:
    terms = terms_of(corpus, KeywordSet.of("election"))
    whole, sampled = features_of(terms), features_of(terms, sample_share=0.1)
    dog = [k.text for k in terms.keywords].index("dog")
    assert sampled.new[dog] == pytest.approx(10 * whole.new[dog])


def thin(corpus: Corpus, every: int = 40) -> Corpus:
    """The same where only one post in forty is known of those without a keyword."""
    return replace(corpus, apart=corpus.apart.take(np.arange(0, len(corpus.apart), every)))


def test_new_posts_that_a_thin_sample_does_not_show_are_expected_all_the_same() -> None:
    whole = Corpus.from_posts(posts(per_week=3000), ["election"], settings=TextSettings(min_count=3))
    found = features_of(terms_of(thin(whole), KeywordSet.of("election")), sample_share=1 / 40)
    at = [k.text for k in terms_of(thin(whole), KeywordSet.of("election")).keywords].index("clerk")
    assert found.outside_known
    assert found.beside[at] == 1.0
    assert found.new[at] == found.unseen[at] > 0
    assert np.isnan(found.values[at, NAMES.index("context_meaning")])
    assert not features_of(terms_of(whole, KeywordSet.of("election"))).unseen.any()


def test_a_thin_sample_leaves_half_of_the_judgement_to_the_posts_of_the_list() -> None:
    whole = Corpus.from_posts(posts(per_week=3000), ["election"], settings=TextSettings(min_count=3))
    terms = terms_of(thin(whole), KeywordSet.of("election"))
    found = weighed(terms, features_of(terms, sample_share=1 / 40))
    alone, outside = (shipped()[known]["second"](found.values) for known in ("meaning", "outside, meaning"))
    chance = relevance(found)
    assert ((chance >= np.minimum(alone, outside) - 1e-9) & (chance <= np.maximum(alone, outside) + 1e-9)).all()
    assert not np.allclose(chance, outside)


def test_a_sample_that_shows_nothing_leaves_the_judgement_to_the_posts_of_the_list(corpus: Corpus) -> None:
    terms = terms_of(corpus.without_apart(), KeywordSet.of("election"))
    found = weighed(terms, features_of(terms, sample_share=0.01))
    assert not found.outside_known
    assert found.unseen.any()
    np.testing.assert_array_equal(relevance(found), shipped()[groups_known(found)]["second"](found.values))


def test_words_that_meet_by_chance_are_less_of_a_phrase_than_words_that_go_together() -> None:
    """*polling station* is said as one; *cold station* is met now and then, and both words say much else."""
    said = ["the polling station opens {}", "a queue at the polling station {}", "cold rain {}", "station music {}"]
    made = [Post(f"p{i}", MONDAY + timedelta(minutes=i), said[i % 4].format(i)) for i in range(400)]
    made += [Post(f"c{i}", MONDAY + timedelta(hours=i), f"a cold station at night {i}") for i in range(10)]
    terms = terms_of(Corpus.from_posts(made, ["queue"], settings=TextSettings(min_count=3)), KeywordSet.of("queue"))
    cohesion = dict(
        zip((k.text for k in terms.keywords), features_of(terms).values[:, NAMES.index("cohesion")], strict=True)
    )
    assert cohesion["polling station"] == 0.0
    assert cohesion["cold station"] < -2
    assert cohesion["rain"] == 0.0, "a single word is no phrase"


@pytest.mark.skipif(word_vectors(["a"]) is None, reason="the package of vectors is not installed")
def test_a_word_that_means_something_else_is_not_added_although_it_stands_beside_the_list() -> None:
    beside = [
        Post(f"s{i}", MONDAY + timedelta(hours=4 * i), f"sunny weather for the election, clerk {i % 9}")
        for i in range(60)
    ]
    advice = recommend([*posts(), *beside], ["election"], subject="elections")
    assert not {"sunny", "weather"} & {form for keyword in advice.add for form in keyword.forms}
    place = {form: at for at, keyword in enumerate(advice.ranked) for form in keyword.forms}
    assert place["ballot"] < place.get("weather", len(place))


def test_candidates_that_are_given_are_the_only_words_added() -> None:
    advice = recommend(posts(), ["election"], candidates=["ballot", "dog"], budget=Budget(max_keywords=5))
    assert set(advice.add.texts) <= {"ballot", "dog"}
    assert "dog" not in advice.add


def test_added_words_say_how_many_of_their_posts_are_new() -> None:
    world = World(weeks=4, posts_per_week=800)
    advice = recommend(world, world.best_keywords("health", 0, 3), subject="health", use_vectors=False)
    added = [reason for reason in advice.reasons if reason.action == "add"]
    assert added
    assert all(reason.new_posts is not None and "of them new" in reason.volume for reason in added)
    assert advice.headline.startswith("Add ")


@pytest.mark.parametrize("code", SENTENCES)
def test_every_code_is_one_short_sentence(code: str) -> None:
    facts = {"beside": 0.97, "nearest": "vote", "times": 3.0, "chance": 0.8, "room": "9 keywords, 8 allowed"}
    said = in_words(code, {**facts, "n": 3, "of": 5})
    assert said[0].isupper() or said[0].isdigit()
    assert not said.endswith(".")
    assert len(said.split()) < 25


@pytest.mark.parametrize("code", NOTES)
def test_every_note_is_said_in_short_sentences(code: str) -> None:
    said = note(code, n=1200, words="ballots, voters", language="de", subject="voting by mail")
    assert said.endswith(".")
    assert all(len(sentence.split()) < 25 for sentence in said.split(". "))
