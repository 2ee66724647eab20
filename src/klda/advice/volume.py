"""How many posts a list brings: counted once and forecast once, for advice, the dial, what-if, monitors and reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import betainc, nbdtrik

from klda.advice.constants import RECENT_HALF_LIFE, RECENT_WINDOWS, THIN_POSTS
from klda.advice.interval import COVERAGE, Interval
from klda.advice.overlap import UnionVolume
from klda.advice.word_counts import window_recency
from klda.arrays import Bools, Floats, Ints
from klda.errors import DataError, SettingError
from klda.text.corpus import Corpus
from klda.text.documents import Ragged
from klda.types import Estimate, Keyword

_TYPICAL_DISPERSION = 0.2
"""φ without past errors: counts vary by nearly half from window to window."""
_PRIOR_WINDOWS = 4.0
"""How many past errors this prior weighs, and then the common φ of all keywords."""
_WORST_ERROR = 4.0
"""Squared relative error at which a window is cut off, so that one explosion does not decide the φ of all."""


HALF_LIFE = 1.5
"""Windows after which a past count weighs half."""


def level_weights(n_windows: int, half_life: float = HALF_LIFE) -> Floats:
    """The weight of each past window in the expected posts, the latest last; they sum to 1. # (T,)

    >>> level_weights(3, half_life=1.0).round(3)
    array([0.143, 0.286, 0.571])
    """
    kept = 0.5 ** (np.arange(n_windows)[::-1] / half_life)
    return np.asarray(kept / kept.sum())


def forecast_posts(counts: Floats, *, half_life: float = HALF_LIFE, coverage: float = COVERAGE) -> Interval:
    """Expected posts of each keyword in the next window, with an interval, from past counts (Q, T). # each (Q,)

    The last column is the latest window.

    >>> steady = forecast_posts(np.array([[20, 22, 19, 20, 21], [0, 0, 0, 0, 0]]))
    >>> steady.at(0), steady.at(1)
    (Estimate(mean=20.453, low=12.0, high=31.0), Estimate(mean=0.0, low=0.0, high=1.0))
    """
    if counts.ndim != 2 or counts.shape[1] == 0:
        raise DataError(f"a forecast needs counts of at least one window for each keyword, got shape {counts.shape}")
    if half_life <= 0:
        raise SettingError(f"half_life must be above 0, got {half_life}")
    kept = 0.5 ** (1 / half_life)
    weighted, weight, weight_squared = counts[:, 0].astype(np.float64), 1.0, 1.0
    error, evidence = np.zeros(len(counts)), np.zeros(len(counts))
    for count in counts[:, 1:].T:
        level, noise = weighted / weight, weight_squared / weight**2
        # squared errors beyond Poisson, over level², weighted so that tiny levels say nothing about φ
        scale = (level + 1 / _TYPICAL_DISPERSION) ** 2
        error += np.minimum((count - level) ** 2 / scale, _WORST_ERROR) - level * (1 + noise) / scale
        evidence += level**2 * (1 + noise) / scale
        weighted = kept * weighted + count
        weight, weight_squared = kept * weight + 1, kept**2 * weight_squared + 1

    common = (_PRIOR_WINDOWS * _TYPICAL_DISPERSION + error.sum()) / (_PRIOR_WINDOWS + evidence.sum())
    own = (_PRIOR_WINDOWS * max(common, 0.0) + error) / (_PRIOR_WINDOWS + evidence)
    dispersion = np.maximum(own, 0.0)

    mean = weighted / weight
    level = (weighted + 0.5) / weight  # half a post more than seen: no post so far is not proof of none to come
    noise = weight_squared / weight**2
    size = level / (noise + (1 + noise) * dispersion * level)
    low, high = (_quantile(q, size, size / (size + level)) for q in ((1 - coverage) / 2, (1 + coverage) / 2))
    return Interval(mean, np.minimum(low, mean), np.maximum(high, mean))


def _quantile(share: float, size: Floats, chance: Floats) -> Floats:
    """The least count that a negative binomial exceeds with at most the remaining share. # as size

    Written out, for `scipy.stats` takes a second to import, in every process.
    """
    near = np.nan_to_num(np.ceil(nbdtrik(share, size, chance)), nan=0.0).clip(min=0.0)
    # between whole numbers rounding may put it on either side
    near = np.where((near > 0) & (betainc(size, np.maximum(near, 1.0), chance) >= share), near - 1, near)
    return np.asarray(np.where(betainc(size, near + 1, chance) < share, near + 1, near))


def collected(corpus: Corpus, current: Ints) -> Bools:
    """Which documents a list collected: they carry a current keyword (n,), or one active in their window. # (D,)

    Active keywords count where they are among the candidates of the corpus.
    """
    active = np.zeros((corpus.n_windows, len(corpus.candidates)), dtype=np.bool_)
    for window, keywords in enumerate(corpus.history):
        active[window, [corpus.candidates.index(k) for k in keywords if k in corpus.candidates]] = True
    active[:, current] = True
    rows = corpus.observed.rows
    brought = np.zeros(len(corpus), dtype=np.bool_)
    brought[rows[active[corpus.documents.window[rows], corpus.observed.values]]] = True
    return brought


def recent_spans(corpus: Corpus, current: Iterable[Keyword]) -> tuple[int, int]:
    """The first window that counts as recent, and the first that counts as the last; 0 where nothing is before it.

    Both reach back until they hold enough posts: a thin week says little by itself.
    """
    n = corpus.n_windows
    carrying = np.bincount(corpus.documents.window[corpus.carrying(current)], minlength=n)
    every = np.bincount(np.concatenate([corpus.documents.window, corpus.apart.window]), minlength=n)
    start, edge = max(0, n - RECENT_WINDOWS), n - 1
    while start and carrying[start:].sum() < THIN_POSTS:
        start -= 1
    while edge and every[edge:].sum() < THIN_POSTS:
        edge -= 1
    enough = every[:edge].sum() >= THIN_POSTS
    return min(start, edge), edge if enough else 0


def weights(corpus: Corpus, current: Ints, sample_share: float = 1.0) -> Floats:
    """How many posts each document stands for. Only a share is known of the posts that no list collected. # (D,)"""
    return np.where(collected(corpus, current), 1.0, 1 / sample_share)


@dataclass(frozen=True)
class Seen:
    """Posts of past windows by the candidates that they carry; posts that carry the same ones are one pattern."""

    pattern: Ints  # (entries,)
    keyword: Ints  # (entries,)
    posts: Floats  # (patterns, T)

    @classmethod
    def of(cls, history: Corpus, weights: Floats | None = None) -> Seen:
        """The posts of a history, each counted by its weight (D,)."""
        at, first = patterns(history.observed)
        posts = np.zeros((len(first), history.n_windows))
        np.add.at(posts, (at, history.documents.window), 1.0 if weights is None else weights)
        carried = history.observed.take(first)
        return cls(carried.rows, carried.values.astype(np.int64), posts)

    def carried(self, names: Ints) -> list[bytes]:
        """The candidates of each pattern, as a key; `names` numbers the candidates (Q,), -1 is left out."""
        edges = np.searchsorted(self.pattern, np.arange(len(self.posts) + 1))
        named = names[self.keyword]
        found = [named[low:high] for low, high in pairwise(edges.tolist())]
        return [np.sort(row[row >= 0]).tobytes() for row in found]

    def with_any(self, columns: Ints) -> Bools:
        """Which patterns carry at least one of these candidates. # (patterns,)"""
        carried = np.zeros(len(self.posts), dtype=np.bool_)
        carried[self.pattern[np.isin(self.keyword, columns)]] = True
        return carried

    def together(self, columns: Ints) -> Floats:
        """Posts of each window that carry any of these candidates. # (T,)"""
        return np.asarray(self.posts[self.with_any(columns)].sum(axis=0))

    def brought(self, columns: Ints, n_candidates: int) -> tuple[Floats, Floats]:
        """Recent posts that these candidates bring, by pattern and by candidate; late windows count more.

        A post with several of them is shared equally. # (patterns,), (Q,)
        """
        late = self.posts @ window_recency(self.posts.shape[1], RECENT_HALF_LIFE)
        weight = np.where(self.with_any(columns), late, 0.0)
        inside = np.isin(self.keyword, columns)
        pattern = self.pattern[inside]
        sharers = np.bincount(pattern, minlength=len(weight))
        shared = (weight / np.maximum(sharers, 1))[pattern]
        credit = np.bincount(self.keyword[inside], weights=shared, minlength=n_candidates)
        return weight, np.asarray(credit, dtype=np.float64)

    def each(self, n_candidates: int) -> Floats:
        """Posts of each window that carry each candidate. # (Q, T)"""
        counts = np.zeros((n_candidates, self.posts.shape[1]))
        np.add.at(counts, self.keyword, self.posts[self.pattern])
        return counts

    def forecast(self, n_candidates: int) -> Interval:
        """Posts that each candidate is expected to bring in the next window. # (Q,)"""
        return forecast_posts(self.each(n_candidates))

    def union(self, n_candidates: int) -> UnionVolume:
        """The expected posts of any set, each post counted once: the mean of `expected`, for all candidates at once.

        Late windows weigh more, as in the forecast; a thin last window is not all that is known.
        """
        usual = self.posts @ level_weights(self.posts.shape[1])  # (patterns,)
        return UnionVolume(usual, self.pattern, self.keyword, n_candidates)

    def expected(self, columns: Ints) -> Estimate:
        """Posts that these candidates together are expected to bring in the next window."""
        found = forecast_posts(self.together(columns)[None, :]).at(0)
        return Estimate(round(found.mean, 1), round(found.low, 1), round(found.high, 1))


def patterns(observed: Ragged) -> tuple[Ints, Ints]:
    """The pattern of each document, and the first document of each pattern. # (D,), (patterns,)

    >>> patterns(Ragged.of([[0, 1], [1], [0, 1]]))
    (array([0, 1, 0]), array([0, 1]))
    """
    numbers: dict[bytes, int] = {}
    at = [numbers.setdefault(observed[row].tobytes(), len(numbers)) for row in range(len(observed))]
    found = np.array(at, dtype=np.int64)
    return found, np.unique(found, return_index=True)[1]
