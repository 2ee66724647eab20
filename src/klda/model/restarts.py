"""Training that diverges begins again with a smaller step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from klda.errors import DivergedError

ATTEMPTS, SMALLER_STEP = 3, 0.25

T = TypeVar("T")


def with_smaller_steps(train: Callable[[float], T], step: float, again: Callable[[float], None] = lambda _: None) -> T:
    """What `train` gives for a step; where that diverges, for a quarter of it, at most three times in all.

    `again` hears of every smaller step before it is tried. The last failure is raised.

    >>> def train(step: float) -> str:
    ...     if step > 0.005:
    ...         raise DivergedError("the bound went to infinity")
    ...     return f"trained with {step}"
    >>> with_smaller_steps(train, 0.01)
    'trained with 0.0025'
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return train(step * SMALLER_STEP**attempt)
        except DivergedError:
            again(step * SMALLER_STEP ** (attempt + 1))
    return train(step * SMALLER_STEP ** (ATTEMPTS - 1))
