"""What a whole keyword set is worth: how much of the target it retains, what new ground it opens, at what price.

A set U is expected to bring posts(U) posts, of which v_q(U) are credited to keyword q with word distribution P_q
(`UnionVolume`: a post with several keywords of the set counts once, in equal parts). Against the V posts of the target,
it supplies the word w at the rate

    s_w(U) = Σ_{q ∈ U} v_q(U) P_qw / V = posts(U) / V · a(U)_w,

where a(U) is the set's word distribution. With the (anchored) target t and the emerging words e, which may both be
restricted to their most probable words,

    retention(U) = Σ_w min(t_w, s_w(U)) / Σ_w t_w      at equal volume: 1 − total variation between a(U) and t
    novelty(U)   = Σ_w min(e_w, s_w(U)) / Σ_w e_w
    overlap(U)   = (Σ_{q ∈ U} v_q({q}) − posts(U)) / V  posts that are asked for more than once
    cost(U)      = posts(U) / V
    price(U)     = Σ_{q ∈ U} price_q                     whatever else speaks against a keyword: drift, commonness

    value(U) = (1 − λ) retention + λ novelty − overlap_weight · overlap − cost_weight · cost − price

λ ∈ [0, 1] is the dial from keeping to exploring. Where no post carries two keywords the value is submodular (concave
functions of sums, minus sums): what a keyword adds can only shrink as the set grows. Shared posts bend this a little,
because crediting them anew changes the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.errors import DataError, SettingError
from klda.selection.arrays import Floats, Ints
from klda.selection.overlap import Share, UnionVolume


@dataclass(frozen=True)
class SetScore:
    """The parts of a set's value."""

    retention: float
    novelty: float
    overlap: float
    cost: float
    price: float
    posts: float
    """Expected posts a window, each counted once."""

    def __sub__(self, other: SetScore) -> SetScore:
        return SetScore(*(getattr(self, name) - getattr(other, name) for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class SetProblem:
    """Everything that the value of a set depends on, but the dial: made once, asked many times. See the module."""

    words: Floats  # (Q, W)  probability of each word that counts; first the target's, then the emerging ones
    cap: Floats  # (W,)  t and e at these words
    is_emerging: Floats  # (W,)  1 where the word counts for novelty, 0 where for retention
    volume: UnionVolume
    target_posts: float
    price: Floats  # (Q,)
    overlap_weight: float
    cost_weight: float

    def __len__(self) -> int:
        return len(self.words)

    def word_weights(self, novelty: float) -> Floats:
        """What one unit of each covered word is worth at a setting of the dial. # (W,)"""
        if not 0 <= novelty <= 1:
            raise SettingError(f"novelty must lie between 0 (keep) and 1 (explore), got {novelty}")
        kept, new = self.cap @ (1 - self.is_emerging), self.cap @ self.is_emerging
        return (1 - novelty) * (1 - self.is_emerging) / kept + novelty * self.is_emerging / (new or 1.0)

    def supply(self, keywords: Ints, credit: Floats) -> Floats:
        """s(U): the rate at which a set brings each word, from the posts (n,) credited to its keywords. # (W,)"""
        return np.asarray(credit @ self.words[keywords] / self.target_posts)

    def score(self, keywords: Ints, share: Share | None = None) -> SetScore:
        """Retention, novelty, overlap, cost, price and posts of a set; its `share` need not be worked out twice."""
        credit = self.volume.credit(keywords) if share is None else share.credit
        posts = float(credit.sum())
        covered = np.minimum(self.cap, self.supply(keywords, credit))
        asked = float(self.volume.expected[keywords].sum())
        return SetScore(
            retention=float(covered @ self.word_weights(0.0)),
            novelty=float(covered @ self.word_weights(1.0)),
            overlap=max(0.0, asked - posts) / self.target_posts,
            cost=posts / self.target_posts,
            price=float(self.price[keywords].sum()),
            posts=posts,
        )

    def value(self, score: SetScore, novelty: float) -> float:
        """The parts weighed against each other at a setting of the dial."""
        return (
            (1 - novelty) * score.retention
            + novelty * score.novelty
            - self.overlap_weight * score.overlap
            - self.cost_weight * score.cost
            - score.price
        )

    def contributions(self, keywords: Ints) -> list[SetScore]:
        """What each keyword of a set adds to the others: the set's score minus that of the set without it."""
        whole = self.score(keywords)
        return [whole - self.score(np.delete(keywords, i)) for i in range(len(keywords))]


def set_problem(
    distributions: Floats,
    volume: UnionVolume,
    target: Floats,
    emerging: Floats,
    *,
    target_posts: float,
    price: Floats | None = None,
    overlap_weight: float = 0.1,
    cost_weight: float = 0.2,
    max_words: int = 300,
) -> SetProblem:
    """The problem of choosing a set among candidates with these word distributions (Q, V) and volumes.

    `target` and `emerging` (V,) are not negative and need not sum to 1; the `max_words` most probable words of each
    count. `target_posts` are the posts a window that the target stands for; `price` (Q,) is nothing by default.

    >>> words = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    >>> problem = set_problem(words, UnionVolume.disjoint(np.array([10.0, 10.0])), target=np.array([0.5, 0.5, 0.0]),
    ...                       emerging=np.array([0.0, 0.0, 0.2]), target_posts=10.0)
    >>> problem.score(np.array([0]))
    SetScore(retention=1.0, novelty=0.0, overlap=0.0, cost=1.0, price=0.0, posts=10.0)
    >>> problem.score(np.array([1]))
    SetScore(retention=0.2, novelty=1.0, overlap=0.0, cost=1.0, price=0.0, posts=10.0)
    """
    if not target_posts > 0:
        raise DataError(f"the target stands for {target_posts} posts a window; choose a window in which the list spoke")
    if not (target > 0).any():
        raise DataError("the target has no words, so nothing can be retained; choose a window in which the list spoke")
    kept, new = _most_probable(target, max_words), _most_probable(emerging, max_words)
    return SetProblem(
        words=distributions[:, np.concatenate([kept, new])],
        cap=np.concatenate([target[kept], emerging[new]]),
        is_emerging=np.repeat([0.0, 1.0], [len(kept), len(new)]),
        volume=volume,
        target_posts=target_posts,
        price=np.zeros(len(distributions)) if price is None else price,
        overlap_weight=overlap_weight,
        cost_weight=cost_weight,
    )


def _most_probable(weights: Floats, n: int) -> Ints:
    order = np.argsort(-weights, kind="stable")[:n]
    return order[weights[order] > 0]
