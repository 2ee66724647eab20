from __future__ import annotations

import numpy as np
import pytest

from klda.errors import SettingError
from klda.model.batches import DocumentSampler, make_batch
from klda.model.data import recency_weights, training_data
from tests.unit.model.small import corpus_of, data_of, random_data


def test_a_batch_holds_its_documents_tokens_pairs_and_covers():
    data = data_of([[5, 0, 0], [1, 2], [3, 1, 0, 1]], [[0], [1], [0, 1]], [[0], [1, 3]], 6)
    batch = make_batch(data, np.array([0, 2]))
    assert batch.words.tolist() == [0, 5, 0, 1, 3]
    assert batch.counts.tolist() == [2, 1, 1, 2, 1]
    assert batch.token_start.tolist() == [0, 2, 5]
    assert batch.n_tokens == 7
    assert batch.pair.tolist() == [0, 2, 3]
    assert batch.pair_keyword.tolist() == [0, 0, 1]
    covered = np.split(batch.cover_token, batch.cover_start[1:-1])
    assert [one.tolist() for one in covered] == [[0], [2], [3, 4]]


def test_a_candidate_that_is_no_token_covers_nothing():
    data = data_of([[4, 5]], [[0]], [[1]], 6)
    assert data.cover.lists() == [[]]


def test_documents_are_drawn_in_proportion_to_their_weight():
    weights = np.array([1.0, 3.0, 0.0, 2.0, 2.0])
    sampler = DocumentSampler(weights)
    generator = np.random.default_rng(0)
    drawn = np.bincount(np.concatenate([sampler.draw(1, generator) for _ in range(8000)]), minlength=len(weights))
    np.testing.assert_allclose(drawn / 8000, weights / 8, atol=0.02)


@pytest.mark.parametrize("half_life", [0.0, -1.0, float("nan")])
def test_a_half_life_that_is_no_length_of_time_is_refused(half_life):
    with pytest.raises(SettingError, match="half_life must be positive"):
        recency_weights(np.arange(3, dtype=np.int32), half_life)


def test_a_batch_has_no_document_twice_and_spans_the_corpus():
    sampler = DocumentSampler(np.ones(1000))
    drawn = sampler.draw(100, np.random.default_rng(0))
    assert len(np.unique(drawn)) == len(drawn) == 100
    assert (drawn // 10 == np.arange(100)).all()


def test_uniform_batches_are_samples_without_replacement():
    generator = np.random.default_rng(0)
    sampler = DocumentSampler(np.ones(20), uniform=True)
    drawn = [sampler.draw(5, generator) for _ in range(4000)]
    assert all(len(np.unique(batch)) == 5 for batch in drawn)
    share = np.bincount(np.concatenate(drawn), minlength=20) / (5 * 4000)
    assert share == pytest.approx(np.full(20, 0.05), abs=0.005)
    in_one_stratum = np.mean([np.sum(batch < 4) > 1 for batch in drawn])
    assert in_one_stratum > 0.2, "documents of the same time may meet, as in a uniform sample"


def test_uniform_batches_refuse_documents_of_different_weight():
    with pytest.raises(SettingError, match="half_life"):
        DocumentSampler(np.array([1.0, 2.0]), uniform=True)


def test_a_batch_larger_than_the_corpus_is_the_corpus():
    assert DocumentSampler(np.ones(5)).draw(64, np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]


def test_frequencies_follow_the_weights():
    data = data_of([[0, 2], [1, 2]], [[0], [1]], [[0], [1]], 3, weights=[1.5, 0.5])
    np.testing.assert_allclose(data.word_frequency, [1.5, 0.5, 2.0])
    np.testing.assert_allclose(data.keyword_frequency, [0.75, 0.25])
    assert data.n_tokens == 4


def test_taking_documents_keeps_their_rows():
    data = random_data()
    some = data.take(np.array([3, 7]))
    assert some.observed.lists() == [data.observed[3].tolist(), data.observed[7].tolist()]
    assert some.lengths.tolist() == data.lengths[[3, 7]].tolist()


def test_recency_halves_a_documents_weight_every_half_life():
    window = corpus_of(random_data(n_documents=6), n_windows=3).documents.window
    weights = recency_weights(window, 1.0)
    np.testing.assert_allclose(weights[[0, 2, 4]] / weights[4], [0.25, 0.5, 1])
    assert weights.mean() == pytest.approx(1)
    assert (recency_weights(window, None) == 1).all()
    with pytest.raises(SettingError, match="half_life"):
        recency_weights(window, 0)


def test_a_corpus_gives_its_arrays():
    corpus = corpus_of(random_data())
    data = training_data(corpus)
    assert data.n_words == 12
    assert data.n_keywords == 4
    assert data.n_pairs == len(corpus.observed.values)
