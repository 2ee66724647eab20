"""Relevance feedback without labels: RM3 (Lavrenko and Croft, 2001; Abdul-Jaleel et al., 2004)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from klda.advice.evidence import Evidence
from klda.arrays import Floats, Ints
from klda.baselines.incidence import candidates_in
from klda.baselines.ranked import Ranking, RankingPolicy, best_first, posts_of_list
from klda.errors import SettingError
from klda.text.corpus import Corpus
from klda.types import Progress


@dataclass
class RM3(RankingPolicy):
    """Candidates probable under the query and the posts that answer it best: relevance-model feedback.

    The current keywords are the query. The last window's posts with a keyword are ranked by the query's likelihood,
    smoothed by `smoothing` tokens of all posts. The best `feedback_posts` make the relevance model: each counts by that
    likelihood, and gives every candidate that it carries one over its length. The score mixes the query, in which all
    keywords count alike, with weight `query_weight`, and the relevance model.
    """

    feedback_posts: int = 100
    query_weight: float = 0.5
    smoothing: float = 100.0

    name = "rm3"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """The probability of every candidate under the query and the relevance model."""
        if self.feedback_posts < 1:
            raise SettingError(f"feedback_posts must be at least 1, got {self.feedback_posts}")
        if not 0 <= self.query_weight <= 1:
            raise SettingError(f"query_weight must lie between 0 and 1, got {self.query_weight}")
        if not self.smoothing > 0:
            raise SettingError(f"smoothing must be above 0, got {self.smoothing}")
        posts = posts_of_list(evidence)
        likelihood = query_log_likelihood(
            candidates_in(posts)[:, evidence.current],
            posts.documents.lengths,
            general=general_share(evidence.last)[evidence.current],
            smoothing=self.smoothing,
        )
        latest = posts.documents.time.astype(np.float64)
        best = best_first(likelihood, ties=latest)[: self.feedback_posts]
        weight = np.exp(likelihood[best] - likelihood[best[0]])
        carried = candidates_in(posts)[best]  # (F, Q)
        relevance = (weight / weight.sum() / np.maximum(posts.documents.lengths[best], 1)) @ carried  # (Q,)
        query = np.zeros(len(relevance))
        query[evidence.current] = 1 / len(evidence.current)
        n_posts = np.asarray(carried.sum(axis=0)).astype(np.int64).tolist()
        reasons = [f"in {n:,} of the {len(best):,} posts that answer the list best" for n in n_posts]
        return Ranking(self.query_weight * query + (1 - self.query_weight) * relevance, reasons)


def general_share(corpus: Corpus) -> Floats:
    """Posts that carry each candidate, for each token of all posts, with or without a candidate. # (Q,)"""
    n_tokens = corpus.documents.n_tokens + corpus.apart.n_tokens
    return np.asarray(candidates_in(corpus).sum(axis=0)) / max(n_tokens, 1)


def query_log_likelihood(carried: csr_array, lengths: Ints, *, general: Floats, smoothing: float) -> Floats:
    """The log-likelihood of a query of n keywords under each post, smoothed by Dirichlet's prior. # (D,)

    `carried` (D, n) is 1 where a post of `lengths` (D,) tokens carries a keyword; `general` (n,) is the keyword's share
    of all tokens. A keyword that occurs nowhere tells no post from another, and is left out.

    >>> carried = csr_array(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> found = query_log_likelihood(carried, np.array([10, 10]), general=np.array([0.1, 0.2]), smoothing=10.0)
    >>> np.exp(found).round(2)  # (1 + 1) / 20 · (0 + 2) / 20, and (1 + 1) / 20 · (1 + 2) / 20
    array([0.01, 0.02])
    """
    occurs = general > 0
    prior = smoothing * general[occurs]  # (n,)
    gain = carried[:, occurs] @ np.log1p(1 / prior)  # (D,)
    return np.asarray(gain + np.log(prior).sum() - occurs.sum() * np.log(lengths + smoothing))
