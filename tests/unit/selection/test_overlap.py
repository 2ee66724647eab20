from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings

from klda.selection import UnionVolume
from tests.unit.selection.strategies import end_to_end, random_documents, seeds

N = 5


def _volume(seed, ratio=None):
    documents = random_documents(seed, 20, N)
    recent = np.array([sum(q in row for row in documents) for q in range(N)], dtype=float)
    expected = recent if ratio is None else np.where(recent > 0, recent * ratio, ratio)
    return documents, UnionVolume.of(*end_to_end(documents), expected)


def _subsets():
    return [np.array(c, dtype=np.int64) for n in range(N + 1) for c in combinations(range(N), n)]


@settings(max_examples=25)
@given(seed=seeds)
def test_when_nothing_changes_a_set_brings_the_documents_that_carry_any_of_it(seed):
    documents, volume = _volume(seed)
    for chosen in _subsets():
        assert np.isclose(volume.posts(chosen), sum(bool(set(row) & set(chosen.tolist())) for row in documents))


@settings(max_examples=25)
@given(seed=seeds)
def test_one_keyword_brings_its_forecast_and_a_set_between_the_largest_and_the_sum(seed):
    ratio = np.random.default_rng(seed).gamma(2.0, size=N)
    _, volume = _volume(seed, ratio)
    for chosen in _subsets()[1:]:
        posts = volume.posts(chosen)
        assert volume.expected[chosen].max() - 1e-9 <= posts <= volume.expected[chosen].sum() + 1e-9
        if len(chosen) == 1:
            assert np.isclose(posts, volume.expected[chosen[0]])


@settings(max_examples=25)
@given(seed=seeds)
def test_what_is_said_of_one_more_keyword_is_what_asking_again_says(seed):
    _, volume = _volume(seed, np.random.default_rng(seed).gamma(2.0, size=N))
    for chosen in _subsets():
        share = volume.share(chosen)
        assert np.isclose(share.credit.sum(), share.posts)
        for q in set(range(N)) - set(chosen.tolist()):
            after = volume.share(np.append(chosen, q))
            assert np.isclose(share.posts + share.added_posts[q], after.posts)
            np.testing.assert_allclose(share.credit + share.moved_credit[q], after.credit[:-1], atol=1e-9)
            assert np.isclose(share.own_credit[q], after.credit[-1])


@settings(max_examples=25)
@given(seed=seeds)
def test_a_keyword_adds_fewer_posts_to_a_larger_set(seed):
    _, volume = _volume(seed, np.random.default_rng(seed).gamma(2.0, size=N))
    for chosen in _subsets():
        outside = [q for q in range(N) if q not in chosen]
        for q in outside:
            larger = volume.share(np.append(chosen, q)).added_posts
            rest = [other for other in outside if other != q]
            assert (larger[rest] <= volume.share(chosen).added_posts[rest] + 1e-9).all()


def test_posts_shared_by_two_keywords_are_credited_to_both_in_equal_parts():
    volume = UnionVolume.of(*end_to_end([[0, 1], [0, 1], [0]]), np.array([3.0, 2.0]))
    assert volume.share(np.array([0, 1])).credit.tolist() == [2.0, 1.0]


def test_without_documents_expected_posts_add_up():
    volume = UnionVolume.disjoint(np.array([3.0, 2.0, 0.0]))
    assert volume.posts(np.array([0, 1, 2])) == 5.0
    assert volume.share(np.array([0])).added_posts[1:].tolist() == [2.0, 0.0]
