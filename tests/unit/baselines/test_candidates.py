from __future__ import annotations

import numpy as np
import pytest

from klda.baselines.candidates import Candidates, assemble_candidates
from klda.baselines.places import PAPER_SOURCES, USUAL_SOURCES
from klda.baselines.viral import Viral
from klda.errors import SettingError
from klda.monitor.monitor_settings import CandidateSettings
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import KeywordSet
from tests.unit.baselines.few_posts import weekly


def assembled(history: Corpus, current: KeywordSet, **options: object) -> Candidates:
    return assemble_candidates(history, current, generator=np.random.default_rng(0), **options)  # type: ignore[arg-type]


def test_the_papers_union_is_earlier_keywords_viral_words_and_frequent_nouns(corpus, current):
    earlier = KeywordSet.of("ambulance", "hospice")
    history = corpus.with_history([earlier, *([current] * (corpus.n_windows - 1))])
    viral = Viral(topic_share=0.0)
    found = assembled(history, current, viral=viral)
    assert PAPER_SOURCES == ("history", "viral", "nouns")
    assert found.keywords[: len(current)] == current
    assert {found.origin[word] for word in earlier.texts} == {"history"}
    assert {"current", "history", "viral", "nouns"} == set(found.origin.values())
    words = viral.recommended(corpus, current, generator=np.random.default_rng(0))
    assert {word.text for word in words} & set(found.keywords.texts)


def test_candidates_are_found_where_no_post_of_the_last_window_carries_the_list(corpus, current):
    never = KeywordSet.of("xylophone")
    found = assembled(corpus.with_history([*[current] * (corpus.n_windows - 1), never]), never, size=20)
    assert set(found.origin.values()) == {"current", "history", "nouns"}
    assert not found.notes


def test_no_stem_stands_twice_and_the_typed_form_wins(corpus):
    typed = KeywordSet.of("patient", "hospitals")
    found = assembled(corpus, typed, sources=("nouns", "hashtags"), size=40)
    assert "patients" not in found.keywords
    assert "hospital" not in found.keywords
    assert found.keywords[0].forms == ("patient",)
    bare = [text.removeprefix("#") for text in found.keywords.texts]
    assert len(bare) == len(set(bare))


def test_two_typed_forms_of_one_stem_both_stay(corpus):
    typed = KeywordSet.of("patient", "patients")
    assert assembled(corpus, typed, sources=("nouns",), size=20).keywords[:2] == typed


def test_the_size_is_a_cap(corpus, current):
    assert len(assembled(corpus, current, sources=("nouns",), size=7).keywords) == 7


def test_endless_runs_of_letters_are_no_candidates() -> None:
    week = [f"the hospital needs a nurse and a{'h' * 3000} and #{'x' * 200}"] * 20
    corpus = weekly(week, week, keywords=("hospital",))
    found = assembled(corpus, corpus.candidates, sources=USUAL_SOURCES).keywords.texts
    assert "nurse" in found
    assert max(map(len, found)) < 20


def test_nouns_are_those_of_all_windows_of_the_history() -> None:
    first = [f"the hospital and its ambulance number {i}" for i in range(30)]
    last = [f"the hospital has a nurse number {i}" for i in range(5)]
    found = assembled(weekly(first, last, keywords=("hospital",)), KeywordSet.of("hospital"), sources=("nouns",))
    assert found.keywords.texts[:3] == ("hospital", "number", "ambulance")


def test_words_of_other_subjects_are_not_frequent_in_posts_of_this_one(corpus, current):
    found = assembled(corpus, current, sources=("nouns",)).keywords
    everything = corpus.with_candidates(KeywordSet.of("horse", "horses", "derby", "coffee"))
    assert len(everything) > len(corpus) / 2
    assert not {"horse", "horses", "derby", "coffee"} & set(found.texts)


@pytest.mark.parametrize("source", ["hashtags", "phrases", "rising"])
def test_further_sources_by_option(corpus, current, source):
    found = assembled(corpus, current, sources=(source,))
    new = found.keywords - current
    assert {found.origin[word] for word in new.texts} <= {source}
    if source == "hashtags":
        assert all(word.startswith("#") for word in new.texts)
    if source == "phrases":
        assert all(" " in word for word in new.texts)


def test_a_hashtag_is_a_candidate_when_several_posts_share_it_and_none_has_its_word() -> None:
    texts = [f"health for all {tag} {i}" for tag in ("#yycflood", "#clinics") for i in range(3)]
    history = weekly(texts, [*texts, "health and clinics", "health #once"], keywords=("health",))
    found = assembled(history, KeywordSet.of("health"), sources=("hashtags",)).keywords
    assert found.texts == ("health", "#yycflood")  # `clinic` would match `#clinics` too


def test_hashtags_of_few_posts_among_many_take_no_place() -> None:
    many = [f"health for all number {i}" for i in range(900)]
    history = weekly(many, [*many, *(f"health #yycflood {i}" for i in range(8))], keywords=("health",))
    assert assembled(history, KeywordSet.of("health"), sources=("hashtags",)).keywords.texts == ("health",)


def test_hashtags_are_looked_for_unless_sources_are_named() -> None:
    assert "hashtags" in USUAL_SOURCES
    assert "hashtags" in CandidateSettings().sources
    assert set(PAPER_SOURCES) < set(USUAL_SOURCES)


def test_rising_words_are_those_of_the_new_story(corpus, current):
    during = corpus.span(0, 4)  # the story breaks in window 3
    words = set(World(weeks=7, posts_per_week=1200).emerging.words)
    rising = assembled(during, current, sources=("rising",), size=20).keywords - current
    frequent = assembled(during, current, sources=("nouns",), size=20).keywords - current
    assert len(words & set(rising.texts)) >= len(words & set(frequent.texts))


def test_the_unfiltered_sample_brings_words_that_the_filter_misses(corpus, current):
    filtered = corpus.without_apart()
    sample = Corpus.from_posts(World(weeks=7, posts_per_week=1200, seed=1), current)
    everything = sample.with_candidates(KeywordSet.of("the", "a", "of", "to", "in"))
    found = assembled(filtered, current, sources=("sample",), sample=everything)
    new = {form for keyword in found.keywords - current for form in keyword.forms}
    on_topic = set(World(weeks=7, posts_per_week=1200).best_keywords("health", week=6, n=30))
    assert len(new & on_topic) >= 5
    with pytest.raises(SettingError, match="sample"):
        assembled(filtered, current, sources=("sample",))


def test_viral_is_left_out_where_nothing_is_known_about_reposts_and_noted_where_it_was_asked_for(corpus, current):
    young = corpus.span(-2)  # no post is 28 days old
    for asked in ({"viral": Viral()}, {"sources": ("viral", "nouns")}):
        found = assembled(young, current, **asked)
        assert any("28 days" in note for note in found.notes)
        assert "viral" not in found.origin.values()
    for usual in ({}, {"sources": (*USUAL_SOURCES, "rising")}):
        assert not assembled(young, current, **usual).notes


def test_an_unknown_source_and_a_size_too_small_are_errors(corpus, current):
    with pytest.raises(SettingError, match="horoscope"):
        assembled(corpus, current, sources=("horoscope",))
    with pytest.raises(SettingError, match="do not fit"):
        assembled(corpus, current, size=1)
