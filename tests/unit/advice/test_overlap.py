from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings

from klda.advice.overlap import UnionVolume
from tests.unit.advice.strategies import end_to_end, random_documents, seeds

N = 5


def _volume(seed):
    """Documents, each a pattern of its own, of which any number may be expected."""
    documents = random_documents(seed, 20, N)
    expected = np.random.default_rng(seed).gamma(2.0, size=len(documents))
    indptr, ids = end_to_end(documents)
    pattern = np.repeat(np.arange(len(documents)), np.diff(indptr))
    return documents, expected, UnionVolume(expected, pattern, ids, N)


def _subsets():
    return [np.array(c, dtype=np.int64) for n in range(N + 1) for c in combinations(range(N), n)]


@settings(max_examples=25)
@given(seed=seeds)
def test_a_set_brings_the_posts_that_carry_any_of_it_each_once(seed):
    documents, expected, volume = _volume(seed)
    for chosen in _subsets():
        brought = sum(n for row, n in zip(documents, expected, strict=True) if set(row) & set(chosen.tolist()))
        assert np.isclose(volume.posts(chosen), brought)
        assert np.isclose(volume.credit(chosen).sum(), brought)
        if len(chosen) == 1:
            assert np.isclose(volume.expected[chosen[0]], brought)


@settings(max_examples=25)
@given(seed=seeds)
def test_what_is_said_of_one_more_keyword_is_what_asking_again_says(seed):
    _, _, volume = _volume(seed)
    for chosen in _subsets():
        for q in set(range(N)) - set(chosen.tolist()):
            after = volume.posts(np.append(chosen, q))
            assert np.isclose(volume.posts(chosen) + volume.added(chosen)[q], after)


@settings(max_examples=25)
@given(seed=seeds)
def test_a_keyword_adds_fewer_posts_to_a_larger_set(seed):
    _, _, volume = _volume(seed)
    for chosen in _subsets():
        for q in set(range(N)) - set(chosen.tolist()):
            assert (volume.added(np.append(chosen, q)) <= volume.added(chosen) + 1e-9).all()


def test_posts_shared_by_two_keywords_are_credited_to_both_in_equal_parts():
    volume = UnionVolume(np.array([2.0, 1.0]), np.array([0, 0, 1]), np.array([0, 1, 0]), 2)
    assert volume.credit(np.array([0, 1])).tolist() == [2.0, 1.0]
    assert volume.credit(np.array([1, 0])).tolist() == [1.0, 2.0]


def test_keywords_that_share_no_post_add_up():
    volume = UnionVolume.disjoint(np.array([3.0, 2.0, 0.0]))
    assert volume.posts(np.array([0, 1, 2])) == 5.0
    assert volume.added(np.array([0]))[1:].tolist() == [2.0, 0.0]
