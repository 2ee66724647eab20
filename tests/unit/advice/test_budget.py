from __future__ import annotations

import numpy as np
import pytest

from klda.advice.budget import Limits
from klda.errors import SettingError


def test_without_limits_everything_but_the_chosen_may_join():
    assert Limits().room(np.array([1]), 5.0, np.array([1.0, 1.0, 9e9])).tolist() == [True, False, True]


def test_each_limit_keeps_out_what_would_break_it():
    added = np.array([0.0, 3.0, 4.0])
    chosen = np.array([0])
    assert Limits(max_keywords=1).room(chosen, 2.0, added).tolist() == [False, False, False]
    assert Limits(max_posts=5).room(chosen, 2.0, added).tolist() == [False, True, False]
    terms = np.array([2.0, 2.0, 1.0])
    assert Limits(max_terms=3, terms=terms).room(chosen, 2.0, added).tolist() == [False, False, True]
    assert Limits(forbidden=np.array([1])).room(chosen, 2.0, added).tolist() == [False, False, True]


def test_a_set_is_allowed_when_it_keeps_every_limit_and_has_what_is_required():
    limits = Limits(max_keywords=2, max_posts=10, max_terms=2, required=np.array([1]), forbidden=np.array([3]))
    assert limits.allow(np.array([0, 1]), 10.0, 4)
    assert not limits.allow(np.array([0]), 5.0, 4)
    assert not limits.allow(np.array([0, 1]), 10.5, 4)
    assert not limits.allow(np.array([0, 1, 2]), 5.0, 4)
    assert not limits.allow(np.array([1, 3]), 5.0, 4)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(max_keywords=1, required=np.array([0, 1])), "2 keywords, 1 allowed"),
        (Limits(max_terms=4, terms=np.array([3.0, 2.0]), required=np.array([0, 1])), "5 terms, 4 allowed"),
        (Limits(max_posts=10, required=np.array([0])), "70 expected posts, 10 allowed"),
        (Limits(forbidden=np.array([0]), required=np.array([0])), "forbidden"),
    ],
)
def test_required_keywords_that_break_the_budget_are_an_error_with_numbers(limits, message):
    with pytest.raises(SettingError, match=message):
        limits.check_required(posts=70.0, n_candidates=2)
