"""Lists within a budget for policies that only rank: the best first, as many as fit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from klda.advice.budget import check_some
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.arrays import Ints
from klda.text.stemming import stem_words
from klda.text.tokens import tokenise
from klda.types import Budget, Keyword


def stems_of(keyword: Keyword, language: str) -> tuple[str, ...]:
    """The stems of a keyword's words, by which candidates are told apart: `#jobs` is matched by `job` too.

    >>> stems_of(Keyword("#jobs"), "en") == stems_of(Keyword("job"), "en")
    True
    """
    return tuple(stem_words([word.lstrip("#") or word for word in tokenise(keyword.text)], language))


def columns_by_stem(evidence: Evidence, found: Iterable[Keyword]) -> tuple[Ints, tuple[Keyword, ...]]:
    """The candidates of the same stems as these keywords, each once and in their order; and the keywords without one.

    A candidate may stand for its stem in another form: a typed *drugs* for the noun *drug*.
    """
    language = evidence.history.vocabulary.language
    column: dict[tuple[str, ...], int] = {}
    for at, candidate in enumerate(evidence.candidates):
        column.setdefault(stems_of(candidate, language), at)
    places: dict[int, None] = {}
    missing = []
    for keyword in found:
        same = keyword in evidence.candidates
        at = evidence.candidates.index(keyword) if same else column.get(stems_of(keyword, language), -1)
        if at < 0:
            missing.append(keyword)
        else:
            places[at] = None
    return np.array(list(places), dtype=np.int64), tuple(missing)


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
