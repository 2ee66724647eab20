from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.advice.frequency import (
    carrying_any,
    document_counts,
    frequencies,
    frequency,
    union_window_counts,
    window_counts,
)
from klda.errors import DataError
from tests.unit.advice.strategies import end_to_end, random_documents, seeds


@given(seed=seeds, keywords=st.sets(st.integers(0, 4), min_size=1))
def test_frequencies_are_those_of_looking_at_every_document(seed, keywords):
    documents = random_documents(seed, 12, 5)
    indptr, ids = end_to_end(documents)
    chosen = np.array(sorted(keywords))
    assert frequency(indptr, ids, chosen) == sum(keywords <= set(row) for row in documents) / 12
    assert carrying_any(indptr, ids, chosen).tolist() == [bool(keywords & set(row)) for row in documents]
    assert document_counts(ids, 5).tolist() == [sum(q in row for row in documents) for q in range(5)]
    np.testing.assert_allclose(frequencies(indptr, ids, 5), [frequency(indptr, ids, np.array([q])) for q in range(5)])


@given(seed=seeds)
def test_window_counts_are_the_counts_of_each_window_alone(seed):
    documents = random_documents(seed, 12, 4)
    window = np.sort(np.random.default_rng(seed).integers(0, 3, 12))
    indptr, ids = end_to_end(documents)
    singles = window_counts(indptr, ids, window, n_windows=3, n_keywords=4)
    either = union_window_counts(indptr, ids, window, 3, np.array([1, 2]))
    for t in range(3):
        inside = [row for row, w in zip(documents, window, strict=True) if w == t]
        assert singles[:, t].tolist() == [sum(q in row for row in inside) for q in range(4)]
        assert either[t] == sum(1 in row or 2 in row for row in inside)


def test_every_document_contains_the_empty_set():
    assert frequency(*end_to_end([[0], []]), np.empty(0, dtype=np.int64)) == 1.0


def test_no_documents_are_an_error_rather_than_a_division_by_zero():
    with pytest.raises(DataError, match="no posts"):
        frequencies(np.array([0]), np.empty(0, dtype=np.int64), 3)
