"""TF-IDF of the last window against the windows before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.frequency import document_counts
from klda.arrays import Floats
from klda.baselines.ranked import Ranking, RankingPolicy, posts_of_list
from klda.errors import DataError
from klda.types import Progress


@dataclass
class TfIdf(RankingPolicy):
    """Candidates frequent in the last window's posts on the list and rare in all posts of earlier windows.

    tf is the share of the last window's posts with a current keyword that carry the candidate; idf is
    ln((N + 1) / (n + 1)), n of all N posts of the earlier windows, with or without a current keyword, carrying it. The
    score is tf · idf. Posts are counted rather than tokens, because a post matches a keyword once.
    """

    name = "tfidf"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """tf · idf of every candidate."""
        if evidence.history.n_windows < 2:
            raise DataError(
                "tf-idf compares the last window with earlier ones, and there is only one; give older posts too, "
                "or a shorter window"
            )
        now, before = posts_of_list(evidence), evidence.history.span(0, -1)
        n_before = len(before) + len(before.apart)
        q = len(evidence.candidates)
        carried_now = document_counts(now.observed.values.astype(np.int64), q)
        carried_before = document_counts(before.observed.values.astype(np.int64), q)
        reasons = [
            f"in {here / len(now):.1%} of last window's posts on the list, {there / max(n_before, 1):.1%} of all before"
            for here, there in zip(carried_now.tolist(), carried_before.tolist(), strict=True)
        ]
        return Ranking(tf_idf(carried_now / len(now), carried_before.astype(np.float64), n_before), reasons)


def tf_idf(share: Floats, carrying: Floats, n_posts: int) -> Floats:
    """share · ln((n_posts + 1) / (carrying + 1)). # (Q,)

    >>> tf_idf(np.array([0.5, 0.5]), np.array([0, 99]), 99).round(2)
    array([2.3, 0. ])
    """
    return np.asarray(share * np.log((n_posts + 1) / (carrying + 1)))
