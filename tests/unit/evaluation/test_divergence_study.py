from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.baselines.divergences import DIVERGENCES
from klda.evaluation.divergence_study import CHANCE, divergence_overlaps, mean_overlap, random_overlap
from klda.evaluation.open_loop import open_loop_case


def test_the_lists_of_every_other_divergence_are_compared_with_those_of_kl(archive, health):
    case = open_loop_case(
        archive, health, 6, weeks=4, history="full", n_candidates=12, generator=np.random.default_rng(0)
    )
    found = divergence_overlaps(case, (2, 3), generator=np.random.default_rng(0), settings={"iterations": 10})
    assert set(found) == {"counting", "klda"}
    for overlaps in found.values():
        assert set(overlaps) == (set(DIVERGENCES) - {"kl"}) | {CHANCE}
        assert all(0 <= share <= 1 for tops in overlaps.values() for share in tops.values())


@given(st.permutations(range(9)), st.permutations(range(9)), st.integers(1, 9))
def test_overlap_is_symmetric_and_whole_when_the_list_is(first, second, top):
    one, other = [np.array(first)], [np.array(second)]
    assert mean_overlap(one, other, top) == mean_overlap(other, one, top)
    assert mean_overlap(one, other, 9) == 1.0
    assert mean_overlap(one, one, top) == 1.0


def test_keywords_that_nothing_extends_do_not_count():
    some, none = np.array([1, 2]), np.array([], dtype=np.int64)
    assert mean_overlap([some, none], [some, none], 2) == 1.0
    assert mean_overlap([none], [none], 2) is None


@pytest.mark.parametrize(("n", "top"), [(7, 3), (4, 2), (2, 3)])
def test_chance_is_the_overlap_of_random_orders(n, top):
    generator = np.random.default_rng(0)
    draws = [mean_overlap([generator.permutation(n)], [generator.permutation(n)], top) for _ in range(3000)]
    assert random_overlap([np.arange(n)], top) == pytest.approx(np.mean(draws), abs=0.02)
