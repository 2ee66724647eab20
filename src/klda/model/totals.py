"""What training has to know of all documents, wherever they are held."""

from __future__ import annotations

from dataclasses import dataclass

from klda.model.bags import Floats
from klda.model.data import TrainingData
from klda.model.workers import ALONE, Workers, total


@dataclass(frozen=True)
class Totals:
    """Sums over the documents of all workers; documents count with their weight."""

    n_documents: int
    n_tokens: float
    weight: float
    word_frequency: Floats  # (V,)
    keyword_frequency: Floats  # (Q,)  shares of documents

    @property
    def mean_length(self) -> float:
        """Tokens of a document."""
        return self.n_tokens / self.weight


def totals(mine: TrainingData, workers: Workers = ALONE) -> Totals:
    """The sums over all documents, of which `mine` are this worker's."""
    weight = total(workers, float(mine.weights.sum()))
    return Totals(
        total(workers, len(mine)),
        total(workers, mine.n_tokens),
        weight,
        total(workers, mine.word_frequency),
        total(workers, mine.keyword_weight) / weight,
    )
