from __future__ import annotations

import numpy as np
import pytest

from klda.corpus.corpus import Corpus
from klda.corpus.simulation import World
from klda.errors import DataError
from klda.policies.viral import Viral
from klda.types import Budget, KeywordSet


@pytest.fixture(scope="module")
def without_counts(corpus: Corpus, current: KeywordSet) -> Corpus:
    posts = (corpus.posts[row] for row in range(0, len(corpus.posts), 2))
    return Corpus.from_posts((type(p)(p.id, p.time, p.text, p.author) for p in posts), current)


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
    found = policy.propose(history, current, candidates, Budget(), generator=np.random.default_rng(0))
    assert set(found.next_keywords.texts) == set(found.ranked.texts)
    assert not found.per_keyword


def test_the_list_stays_when_nothing_is_recommended(history, current, candidates):
    policy = Viral(topic_share=1.0)
    found = policy.propose(history, current, candidates, Budget(), generator=np.random.default_rng(0))
    assert found.next_keywords == current
    assert any("the list stays" in note for note in found.notes)


def test_without_counts_of_reposts_it_says_so(without_counts, current):
    with pytest.raises(DataError, match="no post carries a count of reposts"):
        recommended(Viral(), without_counts, current)


def test_it_can_learn_from_another_archive(without_counts, current, tmp_path):
    other = Corpus.from_posts(World(weeks=2, posts_per_week=1500, seed=5), ["hospital"])
    early = Viral(training=other, topic_share=0.0)
    assert len(recommended(early, without_counts, current)) > 0
    other.save(tmp_path / "other")
    assert recommended(Viral(training=tmp_path / "other", topic_share=0.0), without_counts, current) == recommended(
        early, without_counts, current
    )
