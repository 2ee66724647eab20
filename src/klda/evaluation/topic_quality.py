"""How good topics read: coherence of their top words (NPMI and c_v) and how much they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.arrays import Floats
from klda.model.bags import Bags
from klda.model.coherence import leading_npmi, leading_words, mean_of_pairs


@dataclass(frozen=True)
class TopicQuality:
    """Means over topics."""

    npmi: float
    """Normalised pointwise mutual information of pairs of top words in one document; -1 never together, 1 always."""
    c_v: float
    """Cosine between the NPMI vectors of each top word and of all top words together (Röder et al. 2015, one
    document as the window, as fits short posts)."""
    diversity: float
    """Share of distinct words among all topics' top words."""


def topic_quality(topic_word: Floats, documents: Bags, n_top: int = 10) -> TopicQuality:
    """The quality of topics, judged by how their top words occur together in these documents.

    `topic_word` is (K, V), with the place that rare words share first, which is no top word; documents are the
    reference, best ones that the topics were not fitted on.
    """
    leading = leading_words(topic_word, n_top)  # (K, n_top)
    together = leading_npmi(leading, documents, topic_word.shape[1])
    return TopicQuality(
        npmi=float(np.mean([mean_of_pairs(npmi) for npmi in together])),
        c_v=float(np.mean([_mean_cosine_to_sum(npmi) for npmi in together])),
        diversity=len(np.unique(leading)) / max(leading.size, 1),
    )


def _mean_cosine_to_sum(vectors: Floats) -> float:
    """The mean cosine between each row and the sum of all rows."""
    total = vectors.sum(axis=0)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    cosines = np.divide(vectors @ total, norms, out=np.zeros(len(vectors)), where=norms > 0)
    return float(cosines.mean()) if len(cosines) else 0.0
