from __future__ import annotations

import numpy as np
import pytest

from klda.advice.evidence import Evidence
from klda.advice.situation import Situation
from klda.baselines.pretrained_embedding import PretrainedEmbedding
from klda.errors import DataError
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.text.vectors import word_vectors
from klda.types import KeywordSet, silent
from tests.unit.baselines.few_posts import evidence_of, weekly

WORDS = ("ballot", "voters", "election", "banana", "unsaid")
POSTS = ["ballot banana", "voters", "election", "banana"]


def ranking(corpus, *current):
    return PretrainedEmbedding().rank(
        evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent
    )


def test_is_the_mean_cosine_to_the_keywords_whatever_the_posts_say():
    found = ranking(weekly(["old"], POSTS, keywords=WORDS), "ballot", "voters")
    vectors = word_vectors(WORDS)
    assert vectors is not None
    expected = (vectors[:2] @ vectors.T).mean(axis=0)
    np.testing.assert_allclose(found.scores[:4], expected[:4], atol=1e-6)
    assert found.scores[2] > found.scores[3]  # though ballot stands with banana
    assert found.reasons[2].startswith("of the list it is nearest to ")


def test_words_that_no_post_has_are_no_neighbours_and_no_guides():
    corpus = weekly(["old"], POSTS, keywords=WORDS)
    assert ranking(corpus, "ballot").scores[4] == 0
    with_it, without = (ranking(corpus, *current).scores for current in (("ballot", "unsaid"), ("ballot",)))
    np.testing.assert_allclose(with_it, without / 2)


def test_a_language_without_vectors_is_refused():
    posts = weekly(["old"], POSTS, keywords=WORDS).posts
    german = Corpus.from_posts(posts, KeywordSet.of(*WORDS), settings=TextSettings(language="de", min_count=1))
    evidence = Evidence.of(Situation(german, KeywordSet.of("ballot"), candidates=KeywordSet.of(*WORDS)))
    with pytest.raises(DataError, match="'de'"):
        PretrainedEmbedding().rank(evidence, generator=np.random.default_rng(0), progress=silent)
