"""TextRank (Mihalcea and Tarau, 2004) on the posts of the current list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.baselines.ranked import Ranking, RankingPolicy, posts_of_list
from klda.baselines.word_graph import WordGraph
from klda.types import Progress


@dataclass
class TextRank(RankingPolicy):
    """Candidates that PageRank finds central among the words of the last window's posts on the list.

    Words are joined by the number of posts that have both: posts are short, so the whole post takes the place of the
    original's window of a few words. `damping` is the chance that the walk goes on rather than restarts.
    """

    damping: float = 0.85

    name = "textrank"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """PageRank of every candidate."""
        graph = WordGraph.of(posts_of_list(evidence))
        scores = graph.scores(damping=self.damping)
        return Ranking(scores, [self._reason(evidence, graph, column) for column in range(len(scores))])

    def _reason(self, evidence: Evidence, graph: WordGraph, column: int) -> str:
        words = [evidence.history.vocabulary.display(int(word)) for word in graph.neighbours(column)]
        if not words:
            return "stands with no other word in the list's posts"
        return f"among the words of the list's posts it stands most with {', '.join(words)}"
