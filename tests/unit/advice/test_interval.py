from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from klda.advice.interval import Interval
from klda.types import Estimate


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_a_normal_interval_holds_its_share_of_a_normal_variable(coverage):
    interval = Interval.normal(np.array([2.0]), np.array([3.0]), coverage)
    inside = norm.cdf(interval.high, 2.0, 3.0) - norm.cdf(interval.low, 2.0, 3.0)
    assert inside[0] == pytest.approx(coverage)


def test_one_entry_is_an_estimate_for_people():
    interval = Interval(np.array([[1.23456]]), np.array([[1.0]]), np.array([[2.0]]))
    assert interval.at(0, 0) == Estimate(mean=1.235, low=1.0, high=2.0)
