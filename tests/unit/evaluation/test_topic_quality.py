from __future__ import annotations

from math import log

import numpy as np
import pytest

from klda.evaluation.perplexity import topic_quality
from klda.model.coherence import leading_npmi
from klda.text.documents import Documents, Ragged


def documents(lists):
    ragged = Ragged.of(lists)
    n = len(lists)
    zeros = np.zeros(n, dtype=np.int64)
    return Documents(ragged.indptr, ragged.values, np.ones_like(ragged.values), zeros, zeros.astype(np.int32), zeros)


def slow_npmi(lists, a, b):
    n = len(lists)
    pa, pb = (sum(w in row for row in lists) / n for w in (a, b))
    pab = sum(a in row and b in row for row in lists) / n
    return -1.0 if pab == 0 else (log(pab / (pa * pb)) / -log(pab) if pab < 1 else 0.0)


def test_npmi_equals_its_definition_pair_by_pair():
    generator = np.random.default_rng(0)
    lists = [sorted(set(generator.integers(0, 8, size=4).tolist())) for _ in range(60)]
    (found,) = leading_npmi(np.arange(8)[None], documents(lists), 8)
    for a in range(8):
        for b in range(8):
            if a != b:
                assert found[a, b] == pytest.approx(slow_npmi(lists, a, b))


def test_words_that_every_document_has_say_nothing_about_each_other():
    (found,) = leading_npmi(np.arange(3)[None], documents([[0, 1, 2], [0, 1]]), 3)
    assert found[0, 1] == 0.0
    assert found[0, 2] == pytest.approx(slow_npmi([[0, 1, 2], [0, 1]], 0, 2))


def test_topics_whose_words_occur_together_are_more_coherent_than_mixed_ones():
    lists = [[1, 2, 3]] * 30 + [[4, 5, 6]] * 30
    together = np.array([[0, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1]], dtype=float)
    mixed = np.array([[0, 1, 0, 0, 1, 0, 1], [0, 0, 1, 1, 0, 1, 0]], dtype=float)
    good = topic_quality(together, documents(lists), n_top=3)
    bad = topic_quality(mixed, documents(lists), n_top=3)
    assert good.npmi == pytest.approx(1.0)
    assert good.npmi > bad.npmi
    assert good.c_v > bad.c_v


def test_c_v_is_the_mean_cosine_of_each_words_npmi_with_that_of_all_together():
    lists = [[1, 2, 3]] * 20 + [[1, 2]] * 10 + [[3, 4]] * 10 + [[4]] * 20
    (npmi,) = leading_npmi(np.arange(1, 4)[None], documents(lists), 5)
    whole = npmi.sum(axis=0)
    cosines = [row @ whole / np.sqrt((row @ row) * (whole @ whole)) for row in npmi]
    topic = np.array([[0.0, 3.0, 2.0, 1.0, 0.0]])
    assert topic_quality(topic, documents(lists), n_top=3).c_v == pytest.approx(np.mean(cosines))


def test_diversity_is_one_for_distinct_topics_and_falls_when_they_repeat():
    lists = [[1, 2, 3, 4]] * 5 + [[1, 2]] * 5
    same = np.array([[0, 2, 1, 0, 0], [0, 2, 1, 0, 0]], dtype=float)
    other = np.array([[0, 2, 1, 0, 0], [0, 0, 0, 2, 1]], dtype=float)
    assert topic_quality(same, documents(lists), n_top=2).diversity == 0.5
    assert topic_quality(other, documents(lists), n_top=2).diversity == 1.0


def test_the_place_that_rare_words_share_is_never_a_top_word():
    lists = [[1, 2, 3]] * 30 + [[4, 5, 6]] * 30 + [[1, 4]] * 5
    topics = np.array([[0, 3, 2, 1, 0, 0, 0], [0, 0, 0, 0, 3, 2, 1]], dtype=float)
    often = topics.copy()
    often[:, 0] = 9.0
    plain = topic_quality(topics, documents(lists), n_top=3)
    assert plain.diversity == 1.0
    assert topic_quality(often, documents([[0, *row] for row in lists]), n_top=3) == plain


def test_topics_of_no_word_at_all_have_no_quality():
    found = topic_quality(np.ones((2, 1)), documents([[0], [0]]))
    assert (found.npmi, found.c_v, found.diversity) == (0.0, 0.0, 0.0)
