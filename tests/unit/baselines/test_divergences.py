from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda import arrays
from klda.baselines.divergences import DIVERGENCES, divergence
from klda.errors import SettingError
from tests.unit.advice.strategies import random_distributions, seeds

SYMMETRIC = ("jensen-shannon", "hellinger", "total-variation")
LARGEST = {"jensen-shannon": math.log(2), "hellinger": 1.0, "total-variation": 1.0}


def _kl(p, q):
    return sum(math.inf if b == 0 else a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def _slow(name, p, q):
    """The definitions, word by word."""
    pairs = list(zip(p, q, strict=True))
    middle = [(a + b) / 2 for a, b in pairs]
    match name:
        case "kl":
            return _kl(p, q)
        case "reverse-kl":
            return _kl(q, p)
        case "jensen-shannon":
            return (_kl(p, middle) + _kl(q, middle)) / 2
        case "hellinger":
            return math.sqrt(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in pairs) / 2)
        case "chi-squared":
            return sum(math.inf if b == 0 else (a - b) ** 2 / b for a, b in pairs if a > 0 or b > 0)
        case "total-variation":
            return sum(abs(a - b) for a, b in pairs) / 2
    raise AssertionError(name)


@pytest.mark.parametrize("name", DIVERGENCES)
@given(seed=seeds, zeros=st.booleans())
def test_every_divergence_is_its_definition_word_by_word(name, seed, zeros):
    p, q = random_distributions(seed, 3, 7, zeros), random_distributions(seed + 1, 4, 7, zeros)
    expected = [[_slow(name, a, b) for b in q.tolist()] for a in p.tolist()]
    np.testing.assert_allclose(divergence(name)(p, q), expected, rtol=1e-9, atol=2e-8)


@pytest.mark.parametrize("name", DIVERGENCES)
@given(seed=seeds, zeros=st.booleans())
def test_a_divergence_is_never_negative_and_nothing_from_itself(name, seed, zeros):
    p = random_distributions(seed, 5, 30, zeros)
    matrix = divergence(name)(p, p)
    assert (matrix >= 0).all()
    np.testing.assert_allclose(np.diag(matrix), 0, atol=1e-7)
    assert (matrix <= LARGEST.get(name, np.inf)).all()


@pytest.mark.parametrize("name", SYMMETRIC)
@given(seed=seeds)
def test_symmetric_divergences_do_not_mind_the_order(name, seed):
    p, q = random_distributions(seed, 3, 9, zeros=True), random_distributions(seed + 1, 2, 9, zeros=True)
    np.testing.assert_allclose(divergence(name)(p, q), divergence(name)(q, p).T, atol=1e-9)


@pytest.mark.parametrize("name", LARGEST)
def test_distributions_without_a_common_word_are_as_far_apart_as_can_be(name):
    assert divergence(name)(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))[0, 0] == pytest.approx(LARGEST[name])


@pytest.mark.parametrize("name", ["kl", "chi-squared"])
def test_a_word_that_the_second_never_uses_makes_it_infinite_and_one_that_the_first_never_uses_does_not(name):
    p, q = np.array([[0.5, 0.5, 0.0]]), np.array([[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]])
    assert np.isfinite(divergence(name)(p, q)).tolist() == [[False, True]]


@pytest.mark.parametrize("name", DIVERGENCES)
def test_blocks_of_rows_give_what_one_block_gives(name, monkeypatch):
    p, q = random_distributions(1, 4, 11), random_distributions(2, 9, 11)
    whole = divergence(name)(p, q)
    monkeypatch.setattr(arrays.row_blocks, "__defaults__", (22,))
    np.testing.assert_allclose(divergence(name)(p, q), whole, rtol=1e-12)


def test_an_unknown_divergence_is_named_with_those_that_exist():
    with pytest.raises(SettingError, match=r"'cosine'.*hellinger"):
        divergence("cosine")
