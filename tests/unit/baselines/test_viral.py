from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from klda.advice.situation import Situation
from klda.baselines.viral import Viral
from klda.errors import DataError
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.text.storage import save_corpus
from klda.types import Keyword, KeywordSet, Post


@pytest.fixture(scope="module")
def without_counts(corpus: Corpus, current: KeywordSet) -> Corpus:
    posts = (corpus.posts[row] for row in range(0, len(corpus.posts), 2))
    return Corpus.from_posts((type(p)(p.id, p.time, p.text, p.author) for p in posts), current)


@pytest.fixture(scope="module")
def without_a_last_word(corpus: Corpus, current: KeywordSet) -> Corpus:
    """The last window has posts, of a candidate that is not on the list."""
    posts = [corpus.posts[row] for row in corpus.documents.post]
    begin = corpus.windows[-1].start
    later = [Post(f"coffee-{i}", begin + timedelta(minutes=i), "coffee in the morning") for i in range(5)]
    candidates = [*current, "coffee"]
    return Corpus.from_posts([*(post for post in posts if post.time < begin), *later], candidates)


def recommended(policy: Viral, history: Corpus, current: KeywordSet) -> list[str]:
    return [keyword.text for keyword in policy.recommended(history, current, generator=np.random.default_rng(0))]


def test_at_most_fifteen_nouns_are_recommended_and_fewer_when_topics_must_agree(corpus, current):
    anything = recommended(Viral(topic_share=0.0), corpus, current)
    agreeing = recommended(Viral(topic_share=0.6), corpus, current)
    assert 0 < len(anything) <= 15
    assert set(agreeing) <= set(anything)
    assert recommended(Viral(topic_share=1.0), corpus, current) == []


def test_recommendations_are_words_of_the_last_windows_posts(corpus, current):
    last = corpus.window(-1)
    texts = " ".join(last.posts.texts(last.documents.post)).lower()
    assert all(word in texts for word in recommended(Viral(topic_share=0.0), corpus, current))


def test_it_replaces_the_list_as_in_the_paper(history, current, candidates):
    policy = Viral(topic_share=0.0)
    found = policy.propose(
        Situation(history=history, current=current, candidates=candidates), generator=np.random.default_rng(0)
    )
    assert set(found.next_keywords.texts) == set(found.ranked.texts)
    assert not found.per_keyword


def test_a_noun_is_found_by_its_stem_and_one_without_a_candidate_is_named(corpus, current, candidates):
    typed = KeywordSet.of(*(keyword for keyword in candidates if keyword.text != "patients"), "patient")
    situation = Situation(history=corpus.with_candidates(typed), current=current, candidates=typed)
    found = Viral().proposal(situation, [Keyword("patients", ("patients", "patient")), Keyword("xylophone")])
    assert found.ranked.texts == ("patient",)
    assert any("xylophone too, which is no candidate" in note for note in found.notes)


def test_the_list_stays_when_nothing_is_recommended(history, current, candidates):
    policy = Viral(topic_share=1.0)
    found = policy.propose(
        Situation(history=history, current=current, candidates=candidates), generator=np.random.default_rng(0)
    )
    assert found.next_keywords == current
    assert any("the list stays" in note for note in found.notes)


def test_nothing_is_recommended_where_no_post_of_the_last_window_carries_the_list(without_a_last_word, current):
    assert len(without_a_last_word.window(-1))
    assert recommended(Viral(topic_share=0.0), without_a_last_word, current) == []
    found = Viral().propose(
        Situation(history=without_a_last_word, current=current, candidates=without_a_last_word.candidates),
        generator=np.random.default_rng(0),
    )
    assert found.next_keywords == current


def test_posts_without_a_word_recommend_nothing(corpus, current):
    last = corpus.windows[-1].start
    posts = [corpus.posts[row] for row in corpus.documents.post]
    only = [Post(f"the-{i}", last + timedelta(minutes=i), "the and of") for i in range(5)]
    history = Corpus.from_posts([*(post for post in posts if post.time < last), *only], ["the", *current])
    assert recommended(Viral(topic_share=0.0), history, KeywordSet.of("the")) == []


def test_without_counts_of_reposts_it_says_so(without_counts, current):
    with pytest.raises(
        DataError, match=r"no post carries a count of reposts; name posts .*--training.* another policy"
    ):
        recommended(Viral(), without_counts, current)


def test_it_can_learn_from_another_archive(without_counts, current, tmp_path):
    other = Corpus.from_posts(World(weeks=2, posts_per_week=1500, seed=5), ["hospital"])
    early = Viral(training=other, topic_share=0.0)
    assert len(recommended(early, without_counts, current)) > 0
    save_corpus(other, tmp_path / "other")
    assert recommended(Viral(training=tmp_path / "other", topic_share=0.0), without_counts, current) == recommended(
        early, without_counts, current
    )
