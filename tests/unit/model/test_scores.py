from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from klda.model import prior, scores
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags
from tests.unit.model import slow_scores
from tests.unit.model.small import data_of, parameters_of, random_data, tokens_of

SETTINGS = ModelSettings(
    n_topics=2, hidden=(5, 4), enumeration_limit=6, expectation_iterations=200, expectation_tolerance=1e-12
)
KEYWORD_WORD = [0, 2]


def _all_documents(n_words: int, length: int):
    sequences = [list(s) for s in itertools.product(range(n_words), repeat=length)]
    carrying = [s for s in sequences if any(w in s for w in KEYWORD_WORD)]
    observed = [[j for j, w in enumerate(KEYWORD_WORD) if w in s] for s in carrying]
    return data_of(carrying, observed, [[w] for w in KEYWORD_WORD], n_words), carrying


def _slow_scores(parameters, documents, n_topics: int, iterations: int | None) -> list[float]:
    topic_word = {
        tuple(s): parameters.topic_word.log_distribution(KeywordBags.of([list(s)])).exp()[0].detach().numpy()
        for s in ((0,), (1,), (0, 1))
    }
    return [
        slow_scores.document_score(
            tokens,
            KEYWORD_WORD,
            parameters.theta.detach().numpy(),
            SETTINGS.keyword_penalty,
            topic_word,
            np.ones(n_topics),
            bound_iterations=iterations,
        )
        for tokens in documents
    ]


def test_document_scores_sum_to_one_over_all_documents():
    """With one topic the bound of the other words is exact, so the score is the document's probability."""
    data, _ = _all_documents(n_words=4, length=4)
    settings = replace(SETTINGS, n_topics=1)
    parameters = parameters_of(data, settings)
    score = scores.document_log_likelihood(parameters, data, settings, data.word_frequency)
    assert np.exp(score).sum() == pytest.approx(1, abs=1e-5)


def test_document_scores_follow_the_formula():
    data, documents = _all_documents(n_words=3, length=4)
    parameters = parameters_of(data, SETTINGS)
    score = scores.document_log_likelihood(parameters, data, SETTINGS, data.word_frequency)
    np.testing.assert_allclose(score, _slow_scores(parameters, documents, 2, 200), rtol=1e-5)
    exact = _slow_scores(parameters, documents, 2, None)
    assert (score <= np.array(exact) + 1e-5).all()
    assert np.exp(score).sum() < 1


def test_a_model_trained_with_gumbel_draws_is_scored_over_the_same_documents():
    data, _ = _all_documents(n_words=4, length=4)
    settings = replace(SETTINGS, n_topics=1, relaxation="gumbel")
    parameters = parameters_of(data, settings)
    score = scores.document_log_likelihood(parameters, data, settings, data.word_frequency)
    assert np.exp(score).sum() == pytest.approx(1, abs=1e-5)


def test_leaving_keyword_sets_out_can_only_lower_a_score():
    data, _ = _all_documents(n_words=3, length=4)
    parameters = parameters_of(data, SETTINGS)
    full, part = (
        scores.document_log_likelihood(
            parameters, data, replace(SETTINGS, enumeration_limit=limit), data.word_frequency
        )
        for limit in (2, 1)
    )
    assert (part <= full + 1e-9).all()
    assert (part < full - 1e-3).any()


def test_a_keyword_of_several_words_pays_for_the_one_it_takes():
    data = data_of([[0, 1, 3], [0, 2, 3]], [[0], [0]], [[0]], 4)
    several = data_of([[0, 1, 3], [0, 2, 3]], [[0], [0]], [[0, 1]], 4)
    parameters = parameters_of(data, SETTINGS)
    frequency = np.array([9.5, 29.5, 0.0, 0.0])  # with the added 0.5, word 0 is a quarter of the keyword
    plain = scores.document_log_likelihood(parameters, data, SETTINGS, frequency)
    shared = scores.document_log_likelihood(parameters, several, SETTINGS, frequency)
    np.testing.assert_allclose(shared - plain, np.log(0.25), rtol=1e-5)


def test_a_keyword_that_is_no_token_takes_none():
    data = data_of([[1, 3]], [[0]], [[0]], 4)
    parameters = parameters_of(data, SETTINGS)
    score = scores.document_log_likelihood(parameters, data, SETTINGS, data.word_frequency)
    assert np.isfinite(score).all()


def test_two_keywords_that_one_token_carries_share_it():
    """As `wash` and `hands` do in #washyourhands; one pair may be left out of enumeration, the others are all there."""
    data = data_of([[0, 1, 3]], [[0, 1, 2]], [[0], [0], [1]], 4)
    parameters = parameters_of(data, SETTINGS)
    for limit in (1, 2, 6):
        settings = replace(SETTINGS, enumeration_limit=limit)
        score = scores.document_log_likelihood(parameters, data, settings, data.word_frequency)
        assert np.isfinite(score).all()


def test_a_token_that_two_keywords_share_is_taken_once():
    data = data_of([[0, 3]], [[0, 1]], [[0], [0]], 4)
    settings = replace(SETTINGS, n_topics=1)  # so that the bound of the other token is exact
    parameters = parameters_of(data, settings)
    (score,) = scores.document_log_likelihood(parameters, data, settings, data.word_frequency)
    expected = 0.0
    for keywords in ([0], [1], [0, 1]):
        z = torch.zeros(2).index_fill(0, torch.tensor(keywords), 1.0)
        chosen = prior.log_probability(z, parameters.theta, settings.keyword_penalty).exp()
        words = parameters.topic_word.log_distribution(KeywordBags.of([keywords])).exp()[0, 0]
        expected += (chosen * words[3]).item() / 2  # the shared token stands at one of two places
    assert score == pytest.approx(np.log(expected), rel=1e-4)


def test_topic_shares_are_distributions():
    data = random_data()
    shares = scores.topic_shares(parameters_of(data, SETTINGS), data, SETTINGS)
    assert shares.shape == (40, 2)
    np.testing.assert_allclose(shares.sum(1), 1)


def test_the_held_out_bound_is_below_the_best_possible():
    data = random_data()
    parameters = parameters_of(data, SETTINGS)
    value = scores.held_out_bound(parameters, data, SETTINGS)
    assert value < 0
    observed = scores.held_out_bound(parameters, data, SETTINGS, observed_only=True)
    assert observed != value


def test_completion_hides_no_token_of_a_candidate():
    data = random_data()
    target = scores.completion_targets(data, np.random.default_rng(0))
    assert (target <= data.counts).all()
    assert not target[data.words < 4].any()
    assert 0.3 < target.sum() / data.counts[data.words >= 4].sum() < 0.7


def test_completion_is_the_predictive_probability_of_the_hidden_tokens():
    settings = replace(SETTINGS, expectation_tolerance=1e-9)
    data = data_of([[0, 2, 3, 3, 4]], [[0]], [[0]], 5)
    parameters = parameters_of(data, settings)
    target = np.array([0, 0, 1, 1])  # of words 0, 2, 3, 4
    total, n = scores.completion(parameters, data, settings, target.astype(float))
    beta = parameters.topic_word.log_distribution(KeywordBags.of([[0]])).exp()[0].detach().numpy()
    seen = [2, 3]
    _, gamma = slow_scores.lda_e_step(seen, np.ones(2), beta, 100)
    predicted = gamma / gamma.sum() @ beta
    predicted = predicted / predicted[1:].sum()  # word 0 is a candidate's, and so never hidden
    assert n == 2
    assert total == pytest.approx(np.log(predicted[3]) + np.log(predicted[4]), rel=1e-4)


def test_completion_predicts_a_distribution_over_the_words_that_may_be_hidden():
    """Under two keyword sets with topics of their own: probabilities of all possible words sum to 1."""
    documents = {word: data_of([sorted([0, 1, 2, word])], [[0, 1]], [[0], [1]], 5) for word in (2, 3, 4)}
    parameters = parameters_of(documents[2], SETTINGS)
    total = 0.0
    for word, data in documents.items():
        target = (data.words == word).astype(float)
        total += np.exp(scores.completion(parameters, data, SETTINGS, target)[0])
    assert total == pytest.approx(1, abs=1e-5)


def test_a_better_model_completes_better():
    data = data_of([[0, 2, 2, 2, 2]] * 20, [[0]] * 20, [[0]], 4)
    parameters = parameters_of(data, SETTINGS)
    target = scores.completion_targets(data, np.random.default_rng(0))
    before, _ = scores.completion(parameters, data, SETTINGS, target)
    with torch.no_grad():
        parameters.topic_word.output[-1, :, 2] += 5
    after, _ = scores.completion(parameters, data, SETTINGS, target)
    assert after > before


def test_documents_are_scored_the_same_in_any_order_and_company():
    data = random_data()
    parameters = parameters_of(data, SETTINGS)
    order = np.random.default_rng(0).permutation(len(data))
    score = scores.document_log_likelihood(parameters, data, SETTINGS, data.word_frequency)
    moved = scores.document_log_likelihood(parameters, data.take(order), SETTINGS, data.word_frequency)
    np.testing.assert_allclose(moved, score[order], rtol=1e-6)
    assert tokens_of(data.take(order), 0) == tokens_of(data, int(order[0]))
