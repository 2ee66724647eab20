"""Choosing among many candidates holds arrays of candidates × words and of candidates², never of both together."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from klda.baselines.algorithm2 import extend
from klda.baselines.divergences import DIVERGENCES
from tests.unit.advice.strategies import random_distributions

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
