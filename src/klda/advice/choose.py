"""The choice of a list: what each word newly brings on the subject, less a price for the rest, overlap counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from klda.advice.budget import Limits
from klda.advice.constants import (
    LARGEST_RISE,
    LEAST_KEPT,
    LEAST_RELEVANCE,
    LOUDNESS,
    OFF_SUBJECT_PRICE,
    ROOM,
    SWAP,
    VOLUME_POWER,
)
from klda.advice.overlap import UnionVolume
from klda.arrays import Bools, Floats, Ints
from klda.types import Keyword

DIAL = np.linspace(0.0, 1.0, 11)
"""Settings of the dial at which a list is kept ready."""


def worth(chance: Floats, new: Floats, rise: Floats, novelty: float = 0.5) -> Floats:
    """What each word is worth: its chance to belong less the price of being wrong, times a power of its new posts. (T,)

    The dial `novelty` favours words by their `rise` (log ratio of now to before): at 1 a word that doubled counts
    twice, at 0 it counts half, at 0.5 the rise does not matter.

    >>> worth(np.array([0.9, 0.9, 0.2]), np.array([10.0, 1000.0, 1000.0]), np.zeros(3)).round(1)
    array([ 1.2,  2.4, -0.6])
    >>> worth(np.array([0.9]), np.array([10.0]), np.array([np.log(2)]), novelty=1.0).round(1)
    array([2.4])
    """
    known = np.clip(np.nan_to_num(rise), -LARGEST_RISE, LARGEST_RISE)
    value = (chance - OFF_SUBJECT_PRICE * (1 - chance)) * np.maximum(new, 0.1) ** VOLUME_POWER
    return np.asarray(value * np.exp((2 * novelty - 1) * known))


@dataclass(frozen=True)
class ListScore:
    """What a list brings, against the current one."""

    posts: float
    """Expected posts in the next window."""
    retention: float
    """Share of the current list's posts that it still brings."""
    new_ground: float
    """Posts that it newly brings and that are expected to be on the subject, for each post of the current list."""
    relevance: float
    """Share of its posts that are expected to be on the subject."""


@dataclass(frozen=True)
class Scores:
    """What is known of the words that a list can be chosen from; a word is named by its column."""

    chance: Floats  # (Q,)  probability that what a word newly brings is on the subject
    rise: Floats  # (Q,)  log ratio of its share of posts, last window to earlier ones; NaN where not known
    union: UnionVolume
    covers: tuple[frozenset[int], ...]
    """For each word the columns of others whose every post it matches: *ballot* covers *mail ballot*."""
    current: Ints  # (n,)
    outside_known: bool = True
    """Whether posts without the list are known. Otherwise nobody sees what a word newly brings, nor how noisy a keyword
    is: words are weighed by all their posts, and no current keyword is dropped for its relevance."""

    unseen: Floats = field(default_factory=lambda: np.empty(0))  # (Q,)  or none
    """New posts to be expected of words of which a sample shows none."""

    unsure: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # (u,)
    """Current keywords that stay however unlikely: the rest of the list has too few posts to judge them by."""

    def score(self, columns: Ints) -> ListScore:
        """What a list brings."""
        today, posts = self.union.posts(self.current), self.union.posts(columns)
        both = self.union.posts(np.union1d(columns, self.current))
        credit = self.union.credit(columns)  # (n,)
        added = np.flatnonzero(~np.isin(columns, self.current))
        new = max(both - today, 0.0)
        share = np.average(self.chance[columns[added]], weights=credit[added] + 1e-9) if len(added) else 0.0
        return ListScore(
            posts=posts,
            retention=min(1.0, (today + posts - both) / today) if today else 1.0,
            new_ground=new * float(share) / max(today, 1.0),
            relevance=float(np.average(self.chance[columns], weights=credit + 1e-9)) if len(columns) else 0.0,
        )

    def choose(self, limits: Limits, novelty: float = 0.5) -> Ints:
        """The best list within the limits: required words, kept ones, the best additions, then swaps. # (n,)"""
        chosen = np.unique(limits.required)
        limits.check_required(self.union.posts(chosen), len(self.chance))
        kept = self._kept(limits)
        for column in kept[np.argsort(-self._first(kept), kind="stable")].tolist():
            chosen = self._joined(chosen, column, limits)
        while (best := self._best(chosen, limits, novelty)) is not None:
            chosen = np.append(chosen, best[0])
        chosen = self._swapped(chosen, limits, novelty)
        for column in np.setdiff1d(self._silent(), chosen).tolist():  # they cost nothing, where there is room left
            chosen = self._joined(chosen, column, limits)
        # a narrow word that came before the wide one that covers it takes a place and brings nothing
        redundant = self._covered(chosen) - set(self.current.tolist()) - set(limits.required.tolist())
        return chosen[~np.isin(chosen, list(redundant))]

    def new(self, added: Floats) -> Floats:
        """Expected new posts of each word, from those that are known (Q,). # (Q,)"""
        return np.asarray(np.maximum(added, self.unseen)) if len(self.unseen) else added

    def _best(self, chosen: Ints, limits: Limits, novelty: float) -> tuple[int, Floats] | None:
        """The word that is worth most beside a list, if any is worth its place; and what each is worth. # (Q,)"""
        added = self.union.added(chosen)
        new = self.new(added) if self.outside_known else self.union.expected
        value = worth(self.chance, new, self.rise, novelty)
        may = (self.chance >= self.needed(new)) & (value > 0) & (new > 0)
        may[np.union1d(self.current, chosen)] = False
        may &= limits.room(chosen, self.union.posts(chosen), added)
        may[list(self._covered(chosen))] = False
        return (int(np.where(may, value, -np.inf).argmax()), value) if may.any() else None

    def _swapped(self, chosen: Ints, limits: Limits, novelty: float) -> Ints:
        """The list with its weakest keywords replaced where a word without room is worth clearly more. # (n,)"""
        room = ROOM if limits.max_keywords is None else max(ROOM, limits.max_keywords - len(self.current))
        for _ in range(room - np.count_nonzero(~np.isin(chosen, self.current))):
            mine = np.setdiff1d(np.intersect1d(chosen, self.current), limits.required)
            if not len(mine):
                break
            weakest = mine[self._first(mine).argmin()]
            rest = chosen[chosen != weakest]
            best = self._best(rest, limits, novelty)
            if best is None or best[1][best[0]] <= SWAP * max(float(best[1][weakest]), 0.0):
                break
            chosen = np.append(rest, best[0])
        return chosen

    def needed(self, new: Floats) -> Floats:
        """The chance that a word needs to be added, from the new posts of each (Q,). # (Q,)

        More than half as many new posts as the list has make a word loud, as many make it as loud as can be. It has to
        be surer then: a wrong word of this size drowns the list.
        """
        share = new / max(self.union.posts(self.current), 1.0)
        loud = np.clip(2 * share - 1, 0.0, 1.0) if self.outside_known else np.zeros(len(new))
        odds = LEAST_RELEVANCE / (1 - LEAST_RELEVANCE) * (1 + LOUDNESS * loud)
        return np.asarray(odds / (1 + odds))

    def below(self) -> Bools:
        """Which words do not belong on a list: current ones are held to less, because people chose them. # (Q,)"""
        least = self.needed(self.new(self.union.added(self.current)))
        least[self.current] = LEAST_KEPT if self.outside_known else 0.0
        least[np.union1d(self._silent(), self.unsure)] = 0.0
        return np.asarray(self.chance < least)

    def _kept(self, limits: Limits) -> Ints:
        """Current keywords that may stay: all but forbidden ones and those that do not belong. # (n,)"""
        belongs = ~self.below()[self.current]
        if not belongs.any():
            belongs = self.chance[self.current] == self.chance[self.current].max(initial=0.0)
        out = np.concatenate([limits.forbidden, limits.required, self._silent()])
        return np.setdiff1d(self.current[belongs], out)

    def _silent(self) -> Ints:
        """Current keywords that no post has: nothing is known of them. # (n,)"""
        return np.asarray(self.current[self.union.expected[self.current] == 0])

    def _first(self, columns: Ints) -> Floats:
        """The order in which current keywords take their places when there is not room for all. # (n,)"""
        return worth(self.chance[columns], self.union.expected[columns], np.zeros(len(columns)))

    def _joined(self, chosen: Ints, column: int, limits: Limits) -> Ints:
        longer = np.append(chosen, column)
        return longer if limits.excess(longer, self.union.posts(longer), len(self.chance)) is None else chosen

    def _covered(self, chosen: Ints) -> set[int]:
        return {other for column in chosen.tolist() for other in self.covers[column]}


def covered_by(keywords: Sequence[Keyword]) -> tuple[frozenset[int], ...]:
    """For each keyword the columns of those that it matches by every form.

    >>> covered_by([Keyword("ballot"), Keyword("mail ballot"), Keyword("#ballot"), Keyword("by mail ballot")])
    (frozenset({1, 2, 3}), frozenset({3}), frozenset(), frozenset())
    """
    # a word matches its hashtag, a hashtag does not match the word
    runs = [[_runs(form.split()) if keyword.is_plain else set() for form in keyword.forms] for keyword in keywords]
    found: list[frozenset[int]] = []
    for column, keyword in enumerate(keywords):
        mine = set(keyword.forms)
        found.append(
            frozenset(
                other for other, forms in enumerate(runs) if other != column and all(mine & form for form in forms)
            )
        )
    return tuple(found)


def _runs(words: list[str]) -> set[str]:
    """Every run of words of a form, as it stands and without a hash sign."""
    n = len(words)
    runs = {" ".join(words[i:j]) for i in range(n) for j in range(i + 1, n + 1)}
    return runs | {word.lstrip("#") for word in words}
