"""Choosing among many candidates holds arrays of candidates × words and of candidates², never of both together."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from klda.selection import Limits, UnionVolume, choose_set, extend, set_problem
from klda.selection.divergences import DIVERGENCES
from tests.unit.selection.strategies import end_to_end, random_distributions, random_documents

Q, V = 300, 200
TWO_DIMENSIONS = 8 * (Q * V + Q * Q)
"""Bytes of one array of each kind; one of Q × Q × V would be over a hundred times as large."""


def peak(work: Callable[[], object]) -> int:
    """Bytes of all arrays together at their most."""
    tracemalloc.start()
    work()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_extensions_of_all_candidates_need_no_array_of_pairs_and_words(divergence: str):
    words = random_distributions(0, Q, V)
    assert peak(lambda: extend(words, np.ones(Q), np.arange(Q), divergence=divergence)) < 12 * TWO_DIMENSIONS


def test_a_set_is_chosen_without_an_array_of_pairs_and_words():
    words = random_distributions(0, Q + 2, V)
    volume = UnionVolume.of(*end_to_end(random_documents(0, 20, Q)), np.ones(Q))

    def choose() -> None:
        problem = set_problem(words[:Q], volume, words[Q], words[Q + 1] * 0.3, target_posts=30.0)
        choose_set(problem, Limits(max_keywords=5), current=np.arange(3))

    assert peak(choose) < 12 * TWO_DIMENSIONS


def test_an_array_of_pairs_and_words_would_be_noticed():
    words = random_distributions(0, Q, V)
    assert peak(lambda: np.abs(words[:, None] - words[None]).sum(axis=2)) > 12 * TWO_DIMENSIONS
