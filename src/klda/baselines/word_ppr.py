"""WordPPR (Zhang et al., 2023): personalised PageRank on the graph of words, from the keywords."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.arrays import Floats
from klda.baselines.ranked import Ranking, RankingPolicy, posts_of_list
from klda.baselines.word_graph import WordGraph
from klda.errors import DataError
from klda.types import Progress


@dataclass
class WordPPR(RankingPolicy):
    """Candidates that a walk from the current keywords reaches most often among the words of the list's posts.

    The graph is that of `textrank`: words of the last window's posts on the list, joined by the number of posts that
    have both. The walk restarts at the current keywords, at each alike; a keyword of several words at each of them
    alike. `damping` is the chance that it goes on instead.
    """

    damping: float = 0.85

    name = "word-ppr"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """Personalised PageRank of every candidate."""
        graph = WordGraph.of(posts_of_list(evidence))
        words, candidates = restarts(evidence)
        begin = words[graph.words]
        if not begin.any():
            raise DataError(
                "no word of a current keyword is among the words of its posts, so the walk has no start; add keywords"
            )
        scores = graph.scores(begin, candidates, damping=self.damping)
        return Ranking(scores, [_reason(evidence, graph, column) for column in range(len(scores))])


def restarts(evidence: Evidence) -> tuple[Floats, Floats]:
    """How likely the walk restarts at each word (V,) and each candidate (Q,), up to a factor: a keyword counts 1."""
    own = evidence.history.keyword_words
    words = np.zeros(len(evidence.history.vocabulary))
    for column in evidence.current.tolist():
        known = own[column][own[column] > 0]
        words[known] += 1 / max(len(known), 1)
    return words, np.bincount(own.rows, weights=words[own.values], minlength=len(own)).astype(np.float64)


def _reason(evidence: Evidence, graph: WordGraph, column: int) -> str:
    words = [evidence.history.vocabulary.display(int(word)) for word in graph.neighbours(column)]
    if not words:
        return "no walk from the keywords reaches it"
    return f"a walk from the keywords reaches it by {', '.join(words)}"
