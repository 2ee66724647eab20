"""Random word distributions and documents for the tests of selection."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


def random_distributions(seed: int, n: int, n_words: int, zeros: bool = False) -> np.ndarray:
    """Rows that sum to 1, peaked like words are; with `zeros` about a third of the words never occur in a row."""
    generator = np.random.default_rng(seed)
    weights = generator.gamma(0.5, size=(n, n_words)) + 1e-6
    if zeros:
        weights[:, 1:] *= generator.random((n, n_words - 1)) > 1 / 3
    return weights / weights.sum(axis=1, keepdims=True)


def random_documents(seed: int, n_documents: int, n_keywords: int) -> list[list[int]]:
    """The keywords of each document, ascending; some documents have none."""
    generator = np.random.default_rng(seed)
    return [np.flatnonzero(generator.random(n_keywords) < 0.3).tolist() for _ in range(n_documents)]


def end_to_end(documents: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists as (indptr, ids)."""
    indptr = np.cumsum([0, *(len(row) for row in documents)])
    return indptr, np.array([q for row in documents for q in row], dtype=np.int64)
