"""Context-sensitive Topical PageRank (Zhao et al., 2011) on the posts of the current list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from klda.arrays import Floats
from klda.baselines.topical_pagerank import TopicalPageRank
from klda.baselines.word_graph import WordGraph
from klda.text.corpus import Corpus


@dataclass
class ContextTopicalPageRank(TopicalPageRank):
    """As `topical-pagerank`, and each topic's words are joined only as far as posts on that topic join them.

    Where the original gives a post to one topic and counts it there, here it counts in every topic by the topic's
    weight in it.
    """

    name = "context-topical-pagerank"

    def graphs(self, posts: Corpus, weights: Floats) -> Iterator[WordGraph]:
        """The graph that each topic's walk goes on: posts count by the topic's weight in them."""
        for topic in weights.T:
            yield WordGraph.of(posts, topic)
