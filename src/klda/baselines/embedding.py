"""Neighbours among word vectors that are learnt from the history itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

from klda.advice.evidence import Evidence
from klda.arrays import Floats
from klda.baselines.incidence import candidates_in, company, together, words_in
from klda.baselines.ranked import Ranking, RankingPolicy
from klda.errors import DataError, SettingError
from klda.text.documents import concatenated
from klda.types import Progress


@dataclass
class Embedding(RankingPolicy):
    """Candidates nearest to the list's keywords among vectors learnt from which words share posts.

    Words in at least `min_posts` posts are compared by positive pointwise mutual information over all posts of the
    history, reduced to `n_dimensions` by a truncated singular value decomposition (the singular values' square
    roots weigh the dimensions). A candidate is placed by the words its posts have, so phrases have vectors too. The
    score is the mean cosine to the current keywords.
    """

    n_dimensions: int = 50
    min_posts: int = 5

    name = "embedding"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """The cosine of every candidate to the current keywords."""
        return nearest(evidence, self.vectors(evidence, generator))

    def vectors(self, evidence: Evidence, generator: np.random.Generator) -> Floats:
        """The vector of each candidate, zero for one that no post carries. # (Q, n_dimensions)"""
        if self.n_dimensions < 1:
            raise SettingError(f"n_dimensions must be at least 1, got {self.n_dimensions}")
        history = evidence.history
        present = words_in(concatenated(history.documents, history.apart), len(history.vocabulary))  # (D, V)
        n_posts = present.shape[0]
        known = np.flatnonzero(present.sum(axis=0) >= self.min_posts)
        present = present[:, known]
        posts = np.asarray(present.sum(axis=0))  # (N,)
        words = positive_pmi(together(present), posts, posts, n_posts)  # (N, N)
        if len(known) < 2 or not words.nnz:
            raise DataError(
                f"hardly any word occurs in {self.min_posts} posts, so there are no vectors; give more posts"
            )
        with threadpool_limits(1):  # BLAS threads spin: beside other work they cost many times what they save
            _, singular, axes = svds(
                words,
                k=min(self.n_dimensions, len(known) - 1),
                v0=generator.standard_normal(len(known)),
                return_singular_vectors="vh",
                rng=generator,
            )
        carried = np.asarray(candidates_in(history).sum(axis=0))  # (Q,)
        rows = positive_pmi(csr_array(company(history)[:, known]), carried, posts, n_posts)  # (Q, N)
        kept = singular > 1e-9 * singular.max()
        return np.asarray(rows @ (axes[kept].T / np.sqrt(singular[kept])))


def nearest(evidence: Evidence, vectors: Floats) -> Ranking:
    """Candidates by the mean cosine of their vectors (Q, dimensions) to those of the current keywords."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    cosine = unit[evidence.current] @ unit.T  # (n, Q)
    others = np.where(evidence.current[:, None] == np.arange(len(unit)), -np.inf, cosine)
    reasons = [_reason(evidence, others[:, column]) for column in range(len(unit))]
    return Ranking(cosine.mean(axis=0), reasons, affinity=cosine)


def positive_pmi(both: csr_array, rows: Floats, columns: Floats, n_posts: int) -> csr_array:
    """max(0, ln(n_posts · both / (rows · columns))): how much more often things are together than by chance.

    `both` (A, B) counts the posts that have both, `rows` (A,) and `columns` (B,) those that have either.

    >>> positive_pmi(csr_array(np.array([[4.0, 1.0]])), np.array([4.0]), np.array([4.0, 8.0]), 16).toarray().round(2)
    array([[1.39, 0.  ]])
    """
    pairs = both.tocoo()
    row, column = pairs.coords
    value = np.maximum(np.log(n_posts * pairs.data / (rows[row] * columns[column])), 0.0)
    found = csr_array((value, (row, column)), shape=both.shape)
    found.eliminate_zeros()
    return found


def _reason(evidence: Evidence, cosine: Floats) -> str:
    row = int(cosine.argmax())
    if not np.isfinite(cosine[row]):
        return "the only keyword of the list"
    return (
        f"of the list it is nearest to {evidence.candidates[int(evidence.current[row])].text}: cosine {cosine[row]:.2f}"
    )
