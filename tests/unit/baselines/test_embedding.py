from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy.sparse import csr_array

from klda.baselines.embedding import Embedding, positive_pmi
from klda.errors import DataError, SettingError
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly

POSTS = ["horse race track", "horse race whip", "horse track", "vet drug pain", "vet drug", "drug pain horse", "rain"]
KEYWORDS = ("horse", "race", "drug")


def generator():
    return np.random.default_rng(0)


def pmi_by_hand(texts):
    """max(0, ln(N n_ab / (n_a n_b))) over sets of words."""
    posts = [set(text.split()) for text in texts]
    words = sorted(set().union(*posts))
    n = {word: sum(word in post for post in posts) for word in words}
    table = np.zeros((len(words), len(words)))
    for i, a in enumerate(words):
        for j, b in enumerate(words):
            both = sum(a in post and b in post for post in posts)
            if a != b and both:
                table[i, j] = max(0.0, log(len(posts) * both / (n[a] * n[b])))
    return words, table


def test_vectors_of_words_are_those_of_the_decomposed_table():
    words, table = pmi_by_hand(POSTS)
    left, singular, _ = np.linalg.svd(table)
    rank = 4
    expected = (left[:, :rank] * np.sqrt(singular[:rank]))[[words.index(keyword) for keyword in KEYWORDS]]
    corpus = weekly(POSTS[:4], POSTS[4:], keywords=KEYWORDS)
    found = Embedding(n_dimensions=rank, min_posts=1).vectors(evidence_of(corpus, "horse"), generator())
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-9)  # equal up to a rotation


def test_positive_pmi_is_that_of_a_loop():
    words, table = pmi_by_hand(POSTS)
    present = np.array([[word in text.split() for word in words] for text in POSTS], dtype=float)
    both = present.T @ present
    np.fill_diagonal(both, 0)
    posts = present.sum(axis=0)
    np.testing.assert_allclose(positive_pmi(csr_array(both), posts, posts, len(POSTS)).toarray(), table)


def test_each_keyword_has_neighbours_of_its_own():
    posts = ["horse race track", "horse race whip", "race track whip", "vet drug pain", "drug pain ward"] * 3
    corpus = weekly(posts, posts, keywords=("horse", "vet", "race", "drug"))
    found = Embedding(n_dimensions=3).rank(evidence_of(corpus, "horse", "vet"), generator=generator(), progress=silent)
    assert found.affinity is not None
    assert found.affinity[0, 2] > found.affinity[0, 3] + 0.2
    assert found.affinity[1, 3] > found.affinity[1, 2] + 0.2
    assert found.reasons[3].startswith("of the list it is nearest to vet: cosine ")


def test_a_phrase_has_a_vector_and_a_silent_candidate_none():
    corpus = weekly(POSTS, POSTS, keywords=("horse", "drug pain", "xylophone"))
    found = Embedding(n_dimensions=3, min_posts=1).vectors(evidence_of(corpus, "horse"), generator())
    assert np.linalg.norm(found[1]) > 0
    assert not found[2].any()


def test_the_seed_hardly_matters():
    corpus = weekly(POSTS, POSTS, keywords=KEYWORDS)
    first, second = (
        Embedding(n_dimensions=2, min_posts=1)
        .rank(evidence_of(corpus, "horse"), generator=np.random.default_rng(seed), progress=silent)
        .scores
        for seed in (1, 2)
    )
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_too_few_posts_and_dimensions_are_errors():
    evidence = evidence_of(weekly(POSTS, POSTS, keywords=KEYWORDS), "horse")
    with pytest.raises(DataError, match="in 50 posts"):
        Embedding(min_posts=50).vectors(evidence, generator())
    with pytest.raises(SettingError, match="n_dimensions"):
        Embedding(n_dimensions=0).vectors(evidence, generator())
