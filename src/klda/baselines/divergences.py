"""How far apart word distributions are: the paper's KL and other f-divergences, by name, for all pairs at once.

Every function takes distributions P (n, V) and Q (m, V) whose rows sum to 1 and returns the matrix (n, m) of the
divergence of each row of P from each row of Q, in nats where there is a logarithm. The work goes through matrix
products, or through blocks of rows, so that nothing of size n × m × V is ever held.

Zeros are taken literally: 0 · log 0 is 0, and a word that P uses and Q never does makes KL and χ² infinite. Who wants
finite numbers smooths first (`klda.advice.word_distribution.from_counts`), as next window's truth is smoothed too.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from klda.arrays import Bools, Floats, row_blocks
from klda.errors import SettingError

Divergence = Callable[[Floats, Floats], Floats]


def kl(p: Floats, q: Floats) -> Floats:
    """Kullback–Leibler divergence, Σ p log(p / q). # (n, m)

    >>> kl(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])).round(3)
    array([[0.   , 0.144,   inf]])
    """
    negative_entropy = _negative_entropy(p)  # (n,)
    result = np.empty((len(p), len(q)))
    for rows in row_blocks(len(q), q.shape[1]):
        block = q[rows]
        cross = p @ _log_or_zero(block).T  # (n, rows)
        result[:, rows] = np.where(_meets_zero(p, block), np.inf, negative_entropy[:, None] - cross)
    return np.maximum(result, 0.0)  # rounding of equal rows must not come out negative


def reverse_kl(p: Floats, q: Floats) -> Floats:
    """Kullback–Leibler divergence the other way round, Σ q log(q / p). # (n, m)"""
    return kl(q, p).T


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Jensen–Shannon divergence: mean KL from the two to their midpoint; symmetric, at most log 2. # (n, m)

    >>> bool(np.isclose(jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))[0, 0], np.log(2)))
    True
    """
    ends = (_negative_entropy(p)[:, None] + _negative_entropy(q)[None, :]) / 2  # (n, m)
    return np.clip(ends - _pairwise(p, q, lambda row, block: _negative_entropy((row + block) / 2)), 0.0, np.log(2))


def hellinger(p: Floats, q: Floats) -> Floats:
    """Hellinger distance, √(1 − Σ √(p q)); symmetric, in [0, 1]. # (n, m)

    >>> hellinger(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[0., 1.]])
    """
    root, affinity = np.sqrt(p), np.empty((len(p), len(q)))
    for rows in row_blocks(len(q), q.shape[1]):
        affinity[:, rows] = root @ np.sqrt(q[rows]).T
    return np.sqrt(np.clip(1.0 - affinity, 0.0, 1.0))


def chi_squared(p: Floats, q: Floats) -> Floats:
    """Pearson's χ² divergence, Σ (p − q)² / q. # (n, m)

    >>> chi_squared(np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]])).round(3)
    array([[0.333]])
    """
    squared, result = np.square(p), np.empty((len(p), len(q)))
    for rows in row_blocks(len(q), q.shape[1]):
        block = q[rows]
        inverse = np.divide(1.0, block, out=np.zeros_like(block), where=block > 0)
        result[:, rows] = np.where(_meets_zero(p, block), np.inf, squared @ inverse.T - 1.0)
    return np.maximum(result, 0.0)


def total_variation(p: Floats, q: Floats) -> Floats:
    """Total variation, ½ Σ |p − q|: the share of words in which the two differ; in [0, 1]. # (n, m)

    >>> total_variation(np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]]))
    array([[0.25]])
    """
    return np.minimum(_pairwise(p, q, lambda row, block: np.abs(row - block).sum(axis=1) / 2), 1.0)


DIVERGENCES: MappingProxyType[str, Divergence] = MappingProxyType(
    {
        "kl": kl,
        "reverse-kl": reverse_kl,
        "jensen-shannon": jensen_shannon,
        "hellinger": hellinger,
        "chi-squared": chi_squared,
        "total-variation": total_variation,
    }
)


def divergence(name: str) -> Divergence:
    """The divergence of that name.

    >>> divergence("total-variation") is total_variation
    True
    """
    if name not in DIVERGENCES:
        raise SettingError(f"divergence {name!r} is not known; choose one of {', '.join(DIVERGENCES)}")
    return DIVERGENCES[name]


def _pairwise(p: Floats, q: Floats, compare: Callable[[Floats, Floats], Floats]) -> Floats:
    """`compare(row of p, block of q)` for every row and block, for divergences that no matrix product gives."""
    result = np.empty((len(p), len(q)))
    for rows in row_blocks(len(q), q.shape[1], elements=1 << 17):  # the block stays in cache while all of p passes
        for i, row in enumerate(p):
            result[i, rows] = compare(row, q[rows])
    return result


def _log_or_zero(p: Floats) -> Floats:
    return np.log(np.where(p > 0, p, 1.0))  # several times as fast as a masked logarithm


def _negative_entropy(p: Floats) -> Floats:
    """Σ p log p of each row. # (n,)"""
    result = np.empty(len(p))
    for rows in row_blocks(len(p), p.shape[1]):
        result[rows] = np.einsum("nv,nv->n", p[rows], _log_or_zero(p[rows]))
    return result


def _meets_zero(p: Floats, q: Floats) -> Bools:
    """Whether a row of p uses a word that a row of q never does. # (n, m)"""
    never = q == 0  # (m, V)
    if not never.any():
        return np.zeros((len(p), len(q)), dtype=np.bool_)
    return np.asarray((p > 0).astype(np.float32) @ never.astype(np.float32).T > 0)
