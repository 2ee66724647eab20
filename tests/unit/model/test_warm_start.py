"""A trained model that meets new words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.model import initialise as warm_start
from klda.model import vocabulary_softmax
from klda.model.klda import KLDA
from klda.text.corpus import Corpus
from tests.unit.model.small import QUICK

STILL = {"pretraining_iterations": 0, "max_iterations": 0, "held_out": 0}


def _trained(corpus: Corpus) -> KLDA:
    """A model whose keywords say much: what its features add to the biases outweighs them."""
    model = KLDA(**(QUICK | {"pretraining_iterations": 80, "learning_rate": 0.05, "l2": 0.0})).fit(corpus)
    model.parameters_.topic_word.output.data[:-1] += 0.1  # changes no share, and the scale of all
    return model.set_params(**STILL)


def _wider(corpus: Corpus) -> Corpus:
    return replace(corpus, vocabulary=corpus.vocabulary.extend({"fresh": {"fresh": 9}, "newer": {"newer": 9}}))


def test_new_words_have_about_their_share_under_the_keyword_sets_that_occur(corpus: Corpus):
    grown = _trained(corpus).partial_fit(_wider(corpus))
    unigram = grown.word_frequency_ + 0.5
    promised = unigram[-2:] / unigram.sum()
    sets = [corpus.observed[d].tolist() for d in range(len(corpus))]
    shares = [grown.word_distribution([grown.candidates_[j] for j in one])[-2:] for one in sets]
    off = np.log(np.array(shares) / promised)  # (D, 2)
    np.testing.assert_allclose(off.mean(0), 0, atol=0.1)
    assert np.median(np.abs(off)) < np.log(3)


def test_known_words_keep_their_ratios(corpus: Corpus):
    model = _trained(corpus)
    before = [model.topic_word([keyword]) for keyword in model.candidates_]
    model.partial_fit(_wider(corpus))
    for keyword, old in zip(model.candidates_, before, strict=True):
        known = model.topic_word([keyword])[:, :-2]
        np.testing.assert_allclose(known / known.sum(1, keepdims=True), old, rtol=1e-4)


def test_growing_with_little_memory_is_growing(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    grown = _trained(corpus).partial_fit(_wider(corpus))
    monkeypatch.setattr(vocabulary_softmax, "_AT_ONCE", 1)
    assert warm_start.sets_at_once(2, 13) == 1
    in_pieces = _trained(corpus).partial_fit(_wider(corpus))
    np.testing.assert_allclose(in_pieces.topic_word(["word1"]), grown.topic_word(["word1"]), rtol=1e-5)
