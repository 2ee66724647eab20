"""Lists within a budget for policies that only rank: the best first, as many as fit."""

from __future__ import annotations

import numpy as np

from klda.advice.budget import check_some
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.arrays import Ints
from klda.types import Budget


def fitting(evidence: Evidence, budget: Budget, order: Ints, size: int | None = None) -> Ints:
    """Required keywords, then candidates in this order, each that still fits the budget, up to `size` in all."""
    limits, union, n = evidence.limits(budget), evidence.union, len(evidence.candidates)
    chosen = np.unique(limits.required)
    limits.check_required(union.posts(chosen), n)
    for column in order[~np.isin(order, chosen)].tolist():
        if len(chosen) >= min(size or n, budget.max_keywords or n):
            break
        longer = np.append(chosen, column)
        if limits.excess(longer, union.posts(longer), n) is None:
            chosen = longer
    check_some(chosen)
    return chosen


def left_out(evidence: Evidence, budget: Budget, chosen: Ints) -> dict[int, Finding]:
    """The finding on each current keyword that the budget keeps off a list."""
    limits, n = evidence.limits(budget), len(evidence.candidates)
    found = {}
    for column in np.setdiff1d(evidence.current, chosen).tolist():
        together = np.append(chosen, column)
        why = limits.why_not(column, together, evidence.union.posts(together), n)
        if why is not None:
            found[column] = Finding(why)
    return found
