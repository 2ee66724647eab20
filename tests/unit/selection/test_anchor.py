from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.selection import (
    anchored_target,
    commonness,
    distinctive,
    divergence,
    held_back,
    subject_distance,
    subject_evidence,
)
from tests.unit.selection.strategies import random_distributions, seeds


@given(seed=seeds, anchor=st.floats(0, 1))
def test_the_target_lies_between_last_window_and_the_founding_subject(seed, anchor):
    last, founding = random_distributions(seed, 2, 8)
    target = anchored_target(last, founding, anchor)
    assert target.sum() == pytest.approx(1)
    assert (target >= np.minimum(last, founding) - 1e-12).all()
    assert (target <= np.maximum(last, founding) + 1e-12).all()


def test_an_anchor_beyond_one_is_an_error():
    with pytest.raises(SettingError, match="anchor"):
        anchored_target(np.ones(1), np.ones(1), anchor=1.5)


@given(seed=seeds)
def test_distance_from_the_subject_is_a_metric_between_zero_and_one(seed):
    a, b, c = random_distributions(seed, 3, 8, zeros=True)
    ab, bc, ac = (subject_distance(x[None], y)[0] for x, y in ((a, b), (b, c), (a, c)))
    assert 0 <= ab <= 1
    assert ab == pytest.approx(subject_distance(b[None], a)[0], abs=1e-7)
    assert ac <= ab + bc + 1e-7


@given(seed=seeds)
def test_evidence_is_the_difference_of_two_divergences(seed):
    rows = random_distributions(seed, 6, 8)
    subject, background, candidates = rows[0], rows[1], rows[2:]
    kl = divergence("kl")
    expected = kl(candidates, background[None]) - kl(candidates, subject[None])
    np.testing.assert_allclose(subject_evidence(candidates, subject, background), expected[:, 0], atol=1e-9)


def test_drifting_towards_the_background_loses_evidence_and_gains_distance():
    subject, background = random_distributions(1, 2, 30)
    path = np.array([(1 - x) * subject + x * background for x in (0.0, 0.3, 0.6, 1.0)])
    assert (np.diff(subject_evidence(path, subject, background)) < 0).all()
    assert (np.diff(subject_distance(path, subject)) > 0).all()


def test_a_word_used_as_often_outside_as_inside_is_common_and_one_used_only_inside_is_not():
    inside, outside = np.array([400, 300, 0]), np.array([4_000, 2, 500])
    today, medicare, football = commonness(inside, 2_000, outside, 20_000)
    assert today == pytest.approx(0.5, abs=0.01)
    assert medicare < 0.01
    assert football > 0.95


def test_commonness_needs_something_to_compare_with():
    with pytest.raises(SettingError, match="both sides"):
        commonness(np.array([1]), 10, np.array([0]), 0)


@given(seed=seeds)
def test_what_is_distinctive_sums_to_the_total_variation(seed):
    subject, background = random_distributions(seed, 2, 9)
    part = distinctive(subject, background)
    assert part.sum() == pytest.approx(divergence("total-variation")(subject[None], background[None])[0, 0])
    assert (part[subject <= background] == 0).all()


def test_candidates_are_held_back_for_distance_or_commonness_and_say_which():
    distances, common = np.array([0.2, 0.9, 0.3, 0.95]), np.array([0.1, 0.1, 0.5, 0.6])
    found = {one.candidate: one.reason for one in held_back(distances, 0.8, common=common)}
    assert list(found) == [1, 2, 3]
    assert "0.90" in found[1]
    assert "common" not in found[1]
    assert found[2].startswith("common everywhere: 50%")
    assert "far from" in found[3]
    assert "common everywhere" in found[3]


def test_protected_keywords_are_never_held_back():
    assert held_back(np.array([0.9, 0.9]), 0.5, protected=np.array([0]))[0].candidate == 1
