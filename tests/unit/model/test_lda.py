from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from klda.errors import DataError, SettingError
from klda.model.bags import TokenBags, take
from klda.model.coherence import coherence
from klda.model.lda import LDA, choose_n_topics, fit_lda, halves, mean_word_distribution
from tests.unit.model import slow_scores


def simulated(n_documents: int, topic_word: np.ndarray, seed: int, length: int = 12) -> TokenBags:
    generator = np.random.default_rng(seed)
    n_topics, n_words = topic_word.shape
    documents = []
    for _ in range(n_documents):
        mixture = generator.dirichlet(np.full(n_topics, 0.2)) @ topic_word
        documents.append(generator.choice(n_words, size=length, p=mixture).tolist())
    return TokenBags.of(documents)


@pytest.fixture(scope="module")
def blocks() -> np.ndarray:
    """Four topics, each even over its own five words; the last two words of 22 occur nowhere."""
    topic_word = np.zeros((4, 22))
    for k in range(4):
        topic_word[k, 5 * k : 5 * k + 5] = 0.2
    return topic_word


def test_the_topics_that_made_the_documents_are_found(blocks: np.ndarray) -> None:
    model = fit_lda(simulated(400, blocks, 0), 22, 4, seed=1)
    nearest = (model.topic_word @ blocks.T).argmax(axis=1)
    assert sorted(nearest) == [0, 1, 2, 3]
    np.testing.assert_allclose(model.topic_word, blocks[nearest], atol=0.05)


def test_rows_are_distributions_and_unseen_words_keep_the_smoothed_mass(blocks: np.ndarray) -> None:
    documents = simulated(50, blocks, 0)
    model = fit_lda(documents, 22, 2, seed=1, eta=0.5)
    np.testing.assert_allclose(model.topic_word.sum(axis=1), 1.0)
    n_tokens = documents.counts.sum()
    unseen = model.topic_word[:, 20]
    # η / (n_k + V η) in each topic, so the n_k that these imply add up to all tokens.
    assert (0.5 / unseen - 22 * 0.5).sum() == pytest.approx(n_tokens, rel=1e-5)
    np.testing.assert_allclose(model.topic_word[:, 21], unseen)


def test_a_larger_vocabulary_only_adds_smoothed_words(blocks: np.ndarray) -> None:
    documents = simulated(50, blocks, 0)
    small, large = (fit_lda(documents, v, 2, seed=1).topic_word for v in (22, 40))
    ratio = large[:, :22] / small
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(22))


def test_same_seed_same_topics_bit_for_bit(blocks: np.ndarray) -> None:
    documents = simulated(80, blocks, 0)
    first, second, other = (fit_lda(documents, 22, 3, seed=s) for s in (5, 5, 6))
    assert np.array_equal(first.topic_word, second.topic_word)
    assert np.array_equal(first.alpha, second.alpha)
    assert not np.array_equal(first.topic_word, other.topic_word)


def test_inferred_topic_weights_are_the_fixed_point_of_the_slow_e_step() -> None:
    generator = np.random.default_rng(0)
    model = LDA(generator.dirichlet(np.ones(6), size=3), np.array([0.3, 0.7, 1.1]))
    tokens = [[0, 4, 4, 5], [2]]
    weights = model.infer(TokenBags.of(tokens))
    for row, document in zip(weights, tokens, strict=True):
        _, gamma = slow_scores.lda_e_step(document, model.alpha, model.topic_word, 300)
        np.testing.assert_allclose(row, gamma / gamma.sum(), atol=2e-3)


def test_an_empty_document_has_the_prior_weights() -> None:
    model = LDA(np.full((2, 3), 1 / 3), np.array([1.0, 3.0]))
    np.testing.assert_allclose(model.infer(TokenBags.of([[], [0]]))[0], [0.25, 0.75])


def test_empty_documents_change_nothing(blocks: np.ndarray) -> None:
    documents = simulated(40, blocks, 5)
    gaps = TokenBags(np.repeat(documents.indptr, 2), documents.words, documents.counts)
    with_gaps, without = (fit_lda(d, 22, 2, seed=3).topic_word for d in (gaps, documents))
    assert np.array_equal(with_gaps, without)


def test_completion_predicts_the_hidden_tokens_from_the_others(blocks: np.ndarray) -> None:
    model = LDA((blocks + 1e-4) / (blocks + 1e-4).sum(axis=1, keepdims=True), np.full(4, 0.1))
    documents = TokenBags.of([[0, 1, 2], [5, 5, 0]])
    same_topic = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    other_topic = np.array([0.0, 0.0, 0.0, 1.0, 0.0])  # word 0 of the second document
    assert model.completion_score(documents, same_topic) == pytest.approx(np.log(0.2), abs=0.2)
    assert model.completion_score(documents, other_topic) < np.log(0.05)


def test_completion_sums_a_mixture_over_the_topics() -> None:
    generator = np.random.default_rng(1)
    model = LDA(generator.dirichlet(np.ones(5), size=2), np.ones(2))
    documents, target = TokenBags.of([[0, 1, 1, 3]]), np.array([0.0, 1.0, 1.0])
    weights = model.infer(TokenBags.of([[0, 1]]))[0]
    expected = np.log(weights @ model.topic_word[:, 1]) + np.log(weights @ model.topic_word[:, 3])
    np.testing.assert_allclose(model.completion(documents, target), [expected])


def test_the_mean_distribution_is_the_mean_over_seeds_and_topics(blocks: np.ndarray) -> None:
    documents = simulated(60, blocks, 2)
    mean = mean_word_distribution(documents, 22, 3, seeds=[4, 9], iterations=20)
    fits = [fit_lda(documents, 22, 3, seed=s, iterations=20).topic_word for s in (4, 9)]
    np.testing.assert_allclose(mean, (fits[0].sum(axis=0) + fits[1].sum(axis=0)) / 6)
    assert mean.sum() == pytest.approx(1.0)


def test_true_topics_are_more_coherent_than_mixed_ones(blocks: np.ndarray) -> None:
    true = np.roll(blocks, 1, axis=1)  # no word in the first place, which is that of rare ones
    documents = simulated(300, true, 3)
    mixed = 1 + np.arange(20).reshape(4, 5).T.ravel()  # words 1, 6, 11, 16, 2, …: every five in a row mix all topics
    shuffled = np.zeros_like(true)
    for k in range(4):
        shuffled[k, mixed[5 * k : 5 * k + 5]] = 0.2
    assert coherence(true, documents, n_top=5).min() > 0.3
    assert coherence(shuffled, documents, n_top=5).max() < 0.1


def test_completion_among_the_possible_words_sums_to_one() -> None:
    model = LDA(np.array([[0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.1, 0.7]]), np.ones(2))
    possible = np.array([False, True, True, True])
    scores = [
        model.completion(TokenBags.of([[0, word]]), np.array([0.0, 1.0]), possible)[0]
        for word in np.flatnonzero(possible).tolist()
    ]
    assert np.exp(scores).sum() == pytest.approx(1)


def test_the_log_likelihood_is_exact_with_one_topic_and_a_bound_with_several() -> None:
    documents = TokenBags.of([[0, 1, 1]])
    one = LDA(np.array([[0.5, 0.3, 0.2]]), np.ones(1))
    assert one.log_likelihood(documents)[0] == pytest.approx(np.log(0.5) + 2 * np.log(0.3))
    two = LDA(np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]), np.ones(2))
    weights = np.random.default_rng(0).dirichlet(np.ones(2), 100_000)
    exact = np.log(np.prod((weights @ two.topic_word)[:, [0, 1, 1]], axis=1).mean())
    bound = two.log_likelihood(documents)[0]
    assert exact - 0.5 < bound < exact


def test_coherence_is_the_mean_over_pairs_of_leading_words() -> None:
    documents = TokenBags.of([[1, 2], [1, 2, 3], [1], [4]])
    row = np.array([[0.0, 0.4, 0.3, 0.2, 0.1]])
    p = {(0, 1): 2 / 4, (0, 2): 1 / 4, (1, 2): 1 / 4}
    single = [3 / 4, 2 / 4, 1 / 4]
    npmi = [np.log(v / (single[i] * single[j])) / -np.log(v) for (i, j), v in p.items()]
    np.testing.assert_allclose(coherence(row, documents, n_top=3), [np.mean(npmi)])


def test_the_place_that_rare_words_share_never_counts_for_coherence(blocks: np.ndarray) -> None:
    true = np.roll(blocks, 1, axis=1)
    documents = simulated(200, true, 3)
    rare = [[0, *documents.words[start:stop]] for start, stop in pairwise(documents.indptr.tolist())]
    often = true.copy()
    often[:, 0] = 1.0  # ahead of every word, in every topic and every document
    found = coherence(often, TokenBags.of(rare), n_top=5)
    np.testing.assert_allclose(found, coherence(true, documents, n_top=5))


@pytest.mark.parametrize("n_words", [1, 2])
def test_a_number_of_topics_is_found_where_there_is_no_pair_of_words(n_words: int) -> None:
    documents = TokenBags.of([[0, n_words - 1]] * 6)
    np.testing.assert_array_equal(coherence(np.full((3, n_words), 1 / n_words), documents), np.zeros(3))
    assert choose_n_topics(documents, documents, n_words, seed=0, candidates=(2, 3), iterations=5) == 2


def test_the_number_of_topics_is_found(blocks: np.ndarray) -> None:
    seen: list[float] = []

    def progress(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        seen.append(facts["n_topics"])

    ten_each = np.repeat(np.roll(blocks, 1, axis=1), 2, axis=1) / 2  # ten words in each of four topics
    documents = simulated(600, ten_each, 4)
    train, test = (take(documents, half) for half in halves(len(documents.indptr) - 1, seed=0))
    assert choose_n_topics(train, test, ten_each.shape[1], seed=0, candidates=(8, 2, 4), progress=progress) == 4
    assert seen == [2, 4, 8]


def test_impossible_requests_are_named() -> None:
    documents = TokenBags.of([[0, 7]])
    with pytest.raises(SettingError, match="word 7"):
        fit_lda(documents, 7, 2, seed=0)
    with pytest.raises(SettingError, match="n_topics"):
        fit_lda(documents, 8, 0, seed=0)
    with pytest.raises(DataError, match="nothing to learn"):
        fit_lda(TokenBags.of([[], []]), 8, 2, seed=0)
    with pytest.raises(DataError, match="to be predicted"):
        LDA(np.ones((1, 8)) / 8, np.ones(1)).completion_score(documents, np.zeros(2))


def test_taking_documents_keeps_their_words() -> None:
    documents = TokenBags.of([[3, 1, 3], [2], []])
    taken = take(documents, np.array([2, 0]))
    assert taken.indptr.tolist() == [0, 0, 2]
    assert (taken.words.tolist(), taken.counts.tolist()) == ([1, 3], [1, 2])
