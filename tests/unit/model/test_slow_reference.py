"""The slow reference is itself held to facts that need no second implementation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.unit.model import slow_reference as slow
from tests.unit.model import slow_scores


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(3)


def test_exact_document_scores_sum_to_one_over_all_documents(generator: np.random.Generator) -> None:
    n_words, length, keyword_word = 3, 4, [0, 2]
    theta, prior = generator.normal(size=2), np.array([0.7, 1.4])
    topic_word = {chosen: generator.dirichlet(np.ones(n_words), size=2) for chosen in slow_scores.subsets([0, 1])}
    total = sum(
        math.exp(slow_scores.document_score(tokens, keyword_word, theta, 2.0, topic_word, prior))
        for tokens in itertools.product(range(n_words), repeat=length)
    )
    assert total == pytest.approx(1.0, abs=1e-12)


def test_the_bound_stays_below_the_likelihood_and_rises_with_the_e_step(
    generator: np.random.Generator,
) -> None:
    tokens, alpha = [0, 3, 3, 1], np.array([0.5, 1.0])
    beta = generator.dirichlet(np.ones(4), size=2)
    bounds = []
    for rounds in (1, 2, 5, 50):
        phi, gamma = slow_scores.lda_e_step(tokens, alpha, beta, rounds)
        bounds.append(slow_scores.lda_bound(tokens, gamma, phi, alpha, beta))
    assert bounds == sorted(bounds)
    assert bounds[-1] < slow_scores.lda_likelihood(tokens, alpha, beta)


def test_with_one_topic_the_bound_is_the_likelihood(generator: np.random.Generator) -> None:
    tokens, alpha, beta = [0, 2, 2], np.array([0.3]), generator.dirichlet(np.ones(3), size=1)
    phi, gamma = slow_scores.lda_e_step(tokens, alpha, beta, 3)
    exact = sum(math.log(beta[0, w]) for w in tokens)
    assert slow_scores.lda_bound(tokens, gamma, phi, alpha, beta) == pytest.approx(exact)
    assert slow_scores.lda_likelihood(tokens, alpha, beta) == pytest.approx(exact)


def test_the_word_and_topic_terms_of_a_document_without_keywords_are_the_lda_bound(
    generator: np.random.Generator,
) -> None:
    tokens, prior, beta = [1, 0, 1], np.ones(2), generator.dirichlet(np.ones(3), size=2)
    phi, gamma = slow_scores.lda_e_step(tokens, prior, beta, 4)
    document = slow.DocumentState(tokens, [], np.zeros(1), np.full(1, 0.5), prior, beta, phi, gamma)
    terms = slow.document_terms(document, np.zeros(1), 2.0, [[2]])
    without_keywords = sum(v for name, v in terms.items() if not name.startswith("keyword"))
    assert without_keywords == pytest.approx(slow_scores.lda_bound(tokens, gamma, phi, prior, beta))


def test_rows_of_the_network_are_distributions(generator: np.random.Generator) -> None:
    sizes = [(32, 3), (32, 32), (2 * 5, 32)]
    layers = [(generator.normal(size=size), generator.normal(size=size[0])) for size in sizes]
    matrix = slow.g([1, 0, 1], layers, n_topics=2)
    assert matrix.shape == (2, 5)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
