"""PageRank on a sparse weighted graph, plain and personalised."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from klda.arrays import Floats
from klda.errors import DataError, SettingError

TOLERANCE = 1e-12
"""Total change at which the iteration stops; each step shrinks the error at least by the damping."""


def pagerank(edges: csr_array, restart: Floats | None = None, *, damping: float = 0.85) -> Floats:
    """How often a walk is at each node that follows edges (N, N) by weight, and restarts with 1 − damping. # (N,)

    `restart` (N,) says how likely it begins anew at each node, up to a factor: everywhere alike unless given. At a node
    without a way on it always begins anew. The result sums to 1.

    >>> star = csr_array(np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    >>> pagerank(star).round(2)
    array([0.49, 0.26, 0.26])
    >>> pagerank(star, np.array([0.0, 1, 0]), damping=0.5).round(2)
    array([0.33, 0.58, 0.08])
    """
    if not 0 <= damping < 1:
        raise SettingError(f"damping must be at least 0 and below 1, got {damping}")
    n = edges.shape[0]
    begin = np.ones(n) if restart is None else restart
    if not begin.sum() > 0:
        raise DataError("a walk needs a node to start from: the graph is empty, or no node has a chance to restart at")
    begin = begin / begin.sum()
    share = outgoing_share(edges)
    stuck = share == 0
    back = edges.T.tocsr()
    rank = begin
    while True:
        flow = back @ (rank * share) + rank[stuck].sum() * begin
        after = damping * flow + (1 - damping) * begin
        change = np.abs(after - rank).sum()
        rank = after
        if change < TOLERANCE:
            return np.asarray(rank)


def outgoing_share(edges: csr_array) -> Floats:
    """What one unit of weight is of all that leaves a node, 0 where nothing does. # (N,)"""
    total = np.asarray(edges.sum(axis=1), dtype=np.float64)
    return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
