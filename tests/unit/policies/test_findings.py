"""What is said of keywords that go."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from klda.policies.findings import _role
from klda.selection.budget import Limits


@pytest.mark.parametrize(
    ("with_it", "said"), [(0.9, "all but 10.0% of"), (0.8, "all of the subject's"), (0.797, "all of the subject's")]
)
def test_no_share_below_nothing_is_said_to_be_lost(with_it: float, said: str) -> None:
    def score(columns: Any) -> SimpleNamespace:
        return SimpleNamespace(retention=with_it if 1 in columns else 0.8, posts=0.0)

    class Problem(SimpleNamespace):
        def __len__(self) -> int:
            return 2

    problem: Any = Problem(score=score)
    assert f"the rest of the list brings {said}" in _role(problem, 1, np.array([0]), Limits())
