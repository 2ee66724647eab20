"""The best keyword set within a budget: lazy greedy choice, then swaps.

What a keyword adds shrinks as the set grows (`klda.selection.sets` says how far that holds). So a gain computed earlier
bounds the gain now, and a step of the greedy choice evaluates only the candidates whose bound is above the best gain
found. Three starts are made: the largest gain first, the largest gain for its share of the budget first (which
guards against one costly keyword that shuts out many cheap ones), and the current list where it keeps the limits;
the best is improved by exchanging, dropping and adding keywords until nothing helps.
So a proposal is never worth less than the current list. Ties go to the earlier column: no randomness anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.selection.arrays import Floats, Ints, row_blocks
from klda.selection.budget import Limits
from klda.selection.overlap import Share
from klda.selection.sets import SetProblem, SetScore

_BATCH = 64
_PASSES = 10
_TOLERANCE = 1e-9  # smaller gains are rounding


@dataclass(frozen=True)
class ChosenSet:
    """A keyword set, what it is worth, and how it differs from the current list; numbers are columns of candidates."""

    keywords: Ints
    """In the order in which the search took them; `SetProblem.contributions` says what each is worth."""
    value: float
    score: SetScore
    keep: Ints
    add: Ints
    drop: Ints


def choose_set(
    problem: SetProblem, limits: Limits = Limits(), *, novelty: float = 0.5, current: Ints | None = None
) -> ChosenSet:
    """The best set found at a setting of the dial, within the limits.

    >>> from klda.selection.overlap import UnionVolume
    >>> from klda.selection.sets import set_problem
    >>> words = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    >>> problem = set_problem(words, UnionVolume.disjoint(np.array([10.0, 10.0])), target=np.array([0.5, 0.5, 0.0]),
    ...                       emerging=np.array([0.0, 0.0, 0.2]), target_posts=10.0)
    >>> one = Limits(max_keywords=1)
    >>> choose_set(problem, one, novelty=0.0).keywords, choose_set(problem, one, novelty=1.0, current=np.array([0])).add
    (array([0]), array([1]))
    """
    search = _Search(problem, limits, novelty)
    today = np.empty(0, dtype=np.int64) if current is None else np.asarray(current, dtype=np.int64)
    required = np.unique(limits.required)
    limits.check_required(problem.volume.posts(required), len(problem))

    starts = [search.fill(required.tolist())]
    if limits.max_posts is not None or limits.max_terms is not None:
        starts.append(search.fill(required.tolist(), search.budget_share()))
    if limits.allow(today, problem.volume.posts(today), len(problem)):
        starts.append(today.tolist())
    best = search.improve(max(starts, key=search.value))  # the first of equals
    keywords = np.array(best, dtype=np.int64)
    score = problem.score(keywords)
    return ChosenSet(
        keywords=keywords,
        value=problem.value(score, novelty),
        score=score,
        keep=today[np.isin(today, keywords)],
        add=keywords[~np.isin(keywords, today)],
        drop=today[~np.isin(today, keywords)],
    )


class _Search:
    """One problem at one setting of the dial."""

    def __init__(self, problem: SetProblem, limits: Limits, novelty: float) -> None:
        self.problem, self.limits, self.novelty = problem, limits, novelty
        self.weights = problem.word_weights(novelty)  # (W,)
        nothing = np.empty(0, dtype=np.int64)
        self.alone = self._gains(np.arange(len(problem)), nothing, problem.volume.share(nothing))  # (Q,)

    def value(self, chosen: list[int]) -> float:
        return self.state(chosen)[2]

    def state(self, chosen: list[int]) -> tuple[Ints, Share, float]:
        """A set as an array, who brings its posts, and its value."""
        keywords = np.array(chosen, dtype=np.int64)
        share = self.problem.volume.share(keywords)
        return keywords, share, self.problem.value(self.problem.score(keywords, share), self.novelty)

    def budget_share(self) -> Floats:
        """The part of the posts and terms budgets that each candidate takes alone. # (Q,)"""
        share = np.full(len(self.problem), 1e-9)  # a keyword without posts is cheap, not free
        if self.limits.max_posts is not None:
            share += self.problem.volume.expected / self.limits.max_posts
        if self.limits.max_terms is not None:
            share += self.limits.terms_of(len(self.problem)) / self.limits.max_terms
        return share

    def fill(self, chosen: list[int], unit: Floats | None = None) -> list[int]:
        """`chosen` and all that the greedy choice adds to it."""
        chosen, bounds = list(chosen), self.alone.copy()
        while (found := self.best_addition(*self.state(chosen)[:2], bounds, unit)) is not None:
            chosen.append(found[0])
        return chosen

    def best_addition(
        self, keywords: Ints, share: Share, bounds: Floats, unit: Floats | None = None, leaving_out: int | None = None
    ) -> tuple[int, float] | None:
        """The candidate that adds most (for each `unit` of budget), and its gain; None when none helps.

        `bounds` (Q,) are gains at a smaller set, and are brought up to date where they are looked at.
        """
        may = self.limits.room(keywords, share.posts, share.added_posts)
        if leaving_out is not None:
            may[leaving_out] = False
        unit = np.ones(len(bounds)) if unit is None else unit
        rows = np.flatnonzero(may & (bounds > _TOLERANCE))
        rows = rows[np.argsort(-bounds[rows] / unit[rows], kind="stable")]
        best, best_rate = -1, 0.0
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            if bounds[batch[0]] / unit[batch[0]] < best_rate:
                break
            bounds[batch] = self._gains(batch, keywords, share)
            rates = bounds[batch] / unit[batch]
            top = int(batch[rates == rates.max()].min())  # of equals the earlier column
            rate = bounds[top] / unit[top]
            if bounds[top] > _TOLERANCE and (rate > best_rate or (rate == best_rate and top < best)):
                best, best_rate = top, rate
        return None if best < 0 else (best, float(bounds[best]))

    def improve(self, chosen: list[int]) -> list[int]:
        """`chosen` after exchanges, drops and additions, as long as they raise the value."""
        required = set(self.limits.required.tolist())
        value = self.value(chosen)
        for _ in range(_PASSES):
            before = list(chosen)
            for keyword in [q for q in chosen if q not in required]:
                rest = [q for q in chosen if q != keyword]
                keywords, share, rest_value = self.state(rest)
                loss = value - rest_value
                bounds = np.where(self.alone > loss, self.alone, 0.0)
                found = self.best_addition(keywords, share, bounds, leaving_out=keyword)
                if found is not None and found[1] > loss + _TOLERANCE:
                    chosen, value = [*rest, found[0]], rest_value + found[1]
                elif loss < -_TOLERANCE:
                    chosen, value = rest, rest_value
            chosen = self.fill(chosen)
            if chosen == before:
                break
            value = self.value(chosen)
        return chosen

    def _gains(self, rows: Ints, chosen: Ints, share: Share) -> Floats:
        """What each of these candidates adds to the value of the chosen. # (rows,)"""
        problem = self.problem
        supplied = problem.supply(chosen, share.credit)  # (W,)
        covered = np.minimum(problem.cap, supplied) @ self.weights
        gains = np.empty(len(rows))
        for block in row_blocks(len(rows), problem.words.shape[1]):
            q = rows[block]
            rate = problem.words[q] * (share.own_credit[q, None] / problem.target_posts)  # (block, W)
            rate += (share.moved_credit[q] / problem.target_posts) @ problem.words[chosen]
            rate += supplied
            gains[block] = np.minimum(rate, problem.cap, out=rate) @ self.weights - covered
        added = share.added_posts[rows] / problem.target_posts
        asked = problem.volume.expected[rows] / problem.target_posts
        return gains - problem.overlap_weight * (asked - added) - problem.cost_weight * added - problem.price[rows]
