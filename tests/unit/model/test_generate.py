from __future__ import annotations

import numpy as np
import pytest
import torch

from klda.errors import SettingError
from klda.model import prior
from klda.model.bags import document_of_entry
from klda.model.generate import Generated, blended_topics, generate
from klda.text.documents import Ragged

N_WORDS, N_TOPICS = 12, 2
THETA = np.array([1.0, 0.0, -0.5])
SINGLE = Ragged.of([[0], [1], [2]])


def topics(seed: int = 0, n_keywords: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(N_WORDS), size=(n_keywords, N_TOPICS))


def draw(n: int, seed: int = 1, **changes: object) -> Generated:
    settings: dict[str, object] = {
        "theta": THETA,
        "penalty": 2.0,
        "keyword_words": SINGLE,
        "topic_word": blended_topics(topics()),
        "generator": np.random.default_rng(seed),
        "length": 10,
    }
    return generate(n, **(settings | changes))


def dense(documents: Generated) -> np.ndarray:
    counts = np.zeros((len(documents), N_WORDS))
    counts[document_of_entry(documents), documents.words] = documents.counts
    return counts


def binary(lists: Ragged, n_keywords: int = 3) -> np.ndarray:
    z = np.zeros((len(lists), n_keywords), dtype=bool)
    z[lists.rows, lists.values] = True
    return z


def test_documents_have_the_length_asked_for_and_hold_their_keywords() -> None:
    documents = draw(300)
    counts, z = dense(documents), binary(documents.keywords)
    assert (counts.sum(axis=1) == 10).all()
    assert z.any(axis=1).all()
    assert (counts[:, :3][z] >= 1).all()


def test_observed_keywords_are_those_whose_words_occur() -> None:
    documents = draw(300)
    np.testing.assert_array_equal(binary(documents.observed), dense(documents)[:, :3] > 0)
    assert (binary(documents.observed) & ~binary(documents.keywords)).any()  # some are drawn as ordinary words


def test_keywords_follow_the_prior() -> None:
    n = 8000
    share = binary(draw(n).keywords).mean(axis=0)
    expected = prior.log_partition_gradient(torch.from_numpy(THETA), 2.0).numpy()
    assert (np.abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)).all()


def test_words_follow_the_topics_of_the_keyword_set() -> None:
    matrices = topics()
    documents = draw(20_000)
    counts, z = dense(documents), binary(documents.keywords)
    only_first = z.all(axis=1, where=np.array([True, False, False])) & (z.sum(axis=1) == 1)
    seen = counts[only_first].sum(axis=0)
    seen[0] -= only_first.sum()  # the keyword itself
    expected = matrices[0].mean(axis=0)  # f = 1: topics are equally likely on average
    n = only_first.sum()
    np.testing.assert_allclose(seen / seen.sum(), expected, atol=4 / np.sqrt(n))
    assert np.abs(expected - matrices[1].mean(axis=0)).max() > 8 / np.sqrt(n)  # another set would be noticed


def test_a_document_follows_its_own_topic_weights() -> None:
    apart = np.zeros((3, N_TOPICS, N_WORDS))
    apart[:, 0, 3:6], apart[:, 1, 6:9] = 1 / 3, 1 / 3
    documents = draw(200, length=400, topic_word=blended_topics(apart))
    counts = dense(documents)
    share = counts[:, 3:6].sum(axis=1) / counts[:, 3:9].sum(axis=1)
    np.testing.assert_allclose(share, documents.topic_weights[:, 0], atol=0.13)
    np.testing.assert_allclose(documents.topic_weights.sum(axis=1), 1.0)


def test_the_topic_prior_shapes_the_topic_weights() -> None:
    documents = draw(2000, topic_prior=lambda keywords: [9.0, 1.0] if keywords == (0,) else [1.0, 9.0])
    first = np.array([row == [0] for row in documents.keywords.lists()])
    assert documents.topic_weights[first, 0].mean() == pytest.approx(0.9, abs=0.02)
    assert documents.topic_weights[~first, 0].mean() == pytest.approx(0.1, abs=0.02)


def test_poisson_lengths_have_the_mean_and_variance_of_a_poisson() -> None:
    lengths = dense(draw(5000, poisson=True, length=15.5)).sum(axis=1)
    assert lengths.mean() == pytest.approx(15.5, abs=0.3)
    assert lengths.var() == pytest.approx(15.5, rel=0.1)


def test_a_short_document_still_holds_all_its_keywords() -> None:
    documents = draw(50, theta=[30.0, 30.0, 30.0], length=2)
    assert (dense(documents)[:, :3] == 1).all()


def test_a_phrase_writes_all_its_words_and_a_shared_word_once() -> None:
    phrases = Ragged.of([[3, 4], [4], [5]])
    documents = draw(200, keyword_words=phrases, theta=[30.0, 30.0, -30.0], length=0)
    np.testing.assert_array_equal(dense(documents)[:, 3:6], np.tile([1, 1, 0], (200, 1)))
    assert documents.observed.lists() == [[0, 1]] * 200


def test_g_is_asked_once_for_each_distinct_keyword_set() -> None:
    asked = []

    def topic_word(keywords: tuple[int, ...]) -> np.ndarray:
        asked.append(keywords)
        return topics()[list(keywords)].mean(axis=0)

    documents = draw(500, topic_word=topic_word)
    assert len(asked) == len(set(asked))
    assert set(asked) == {tuple(row) for row in documents.keywords.lists()}


def test_same_seed_same_documents() -> None:
    first, second, other = draw(100), draw(100), draw(100, seed=2)
    assert np.array_equal(first.words, second.words)
    assert np.array_equal(first.counts, second.counts)
    assert np.array_equal(first.topic_weights, second.topic_weights)
    assert not np.array_equal(dense(first), dense(other))


def test_impossible_sizes_are_named() -> None:
    with pytest.raises(SettingError, match="n_documents"):
        draw(0)
    with pytest.raises(SettingError, match="length"):
        draw(5, length=2.5)
