from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from klda.errors import SettingError
from klda.selection import Limits, choose_set, trace_frontier
from tests.unit.selection.strategies import seeds
from tests.unit.selection.test_choose import _problem


@settings(max_examples=15)
@given(seed=seeds)
def test_turning_the_dial_up_never_trades_novelty_back_for_retention(seed):
    curve = trace_frontier(_problem(seed), Limits(max_keywords=3), n_settings=6)
    gap = np.array([chosen.score.novelty - chosen.score.retention for chosen in curve.sets])
    assert (np.diff(gap) >= -1e-9).all()


@settings(max_examples=15)
@given(seed=seeds)
def test_every_setting_has_at_least_the_value_of_choosing_for_it_alone(seed):
    problem, limits = _problem(seed), Limits(max_keywords=3)
    curve = trace_frontier(problem, limits, n_settings=5)
    for setting, chosen in zip(curve.settings, curve.sets, strict=True):
        assert chosen.value >= choose_set(problem, limits, novelty=float(setting)).value - 1e-12
        assert chosen.value == pytest.approx(problem.value(chosen.score, float(setting)))


def test_the_dial_shows_the_nearest_setting():
    curve = trace_frontier(_problem(4), Limits(max_keywords=2), n_settings=3)
    assert curve.at(0.1) is curve.sets[0]
    assert curve.at(0.6) is curve.sets[1]
    assert curve.at(1.0) is curve.sets[2]


def test_one_setting_is_no_frontier():
    with pytest.raises(SettingError, match="at least 2"):
        trace_frontier(_problem(4), n_settings=1)
