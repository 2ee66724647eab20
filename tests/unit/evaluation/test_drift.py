from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.evaluation.drift import anchored_target, subject_distance
from tests.unit.advice.strategies import random_distributions, seeds


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
