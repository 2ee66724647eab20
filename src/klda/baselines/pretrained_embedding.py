"""Neighbours among word vectors that were trained elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.arrays import Floats
from klda.baselines.embedding import nearest
from klda.baselines.incidence import candidates_in
from klda.baselines.ranked import Ranking, RankingPolicy
from klda.errors import DataError
from klda.text.vectors import word_vectors
from klda.types import Progress


@dataclass
class PretrainedEmbedding(RankingPolicy):
    """Candidates nearest to the list's keywords among word vectors that were trained on other texts.

    The vectors are those that come with the package, for English. The score is the mean cosine to the current keywords.
    As in `embedding`, a keyword or candidate that no post of the history carries has no direction, and a cosine of 0.
    """

    name = "pretrained-embedding"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """The cosine of every candidate to the current keywords."""
        return nearest(evidence, self.vectors(evidence))

    def vectors(self, evidence: Evidence) -> Floats:
        """The vector of each candidate, zero for one that no post carries. # (Q, dimensions)"""
        language = evidence.history.vocabulary.language
        found = word_vectors([keyword.in_words for keyword in evidence.candidates], language)
        if found is None:
            raise DataError(f"there are no word vectors for the language {language!r}; take the policy embedding")
        occurs = np.asarray(candidates_in(evidence.history).sum(axis=0)) > 0
        return found.astype(np.float64) * occurs[:, None]
