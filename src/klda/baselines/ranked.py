"""What the policies share that score every candidate: the best make the next list, as far as the budget goes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klda.advice.assemble import assemble
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.arrays import Floats, Ints
from klda.baselines.lists import fitting
from klda.errors import DataError
from klda.text.corpus import Corpus
from klda.types import Budget, Progress, silent


@dataclass(frozen=True)
class Ranking:
    """A score for every candidate, the higher the better, and why in words."""

    scores: Floats  # (Q,)
    reasons: Sequence[str]  # Q of them
    affinity: Floats | None = None  # (n, Q)
    """How well each candidate goes with each current keyword, where a policy can tell."""


@dataclass
class RankingPolicy:
    """Proposes the best candidates by a score; what differs between policies is the score.

    `top` is how many each current keyword contributes to the list when the budget does not say.
    """

    top: int = 2

    name = ""

    @abstractmethod
    def rank(self, evidence: Evidence, *, generator: np.random.Generator, progress: Progress) -> Ranking:
        """The score of every candidate."""

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The candidates of the highest scores in place of the current list, as many as the budget allows."""
        evidence = Evidence.of(situation)
        ranking = self.rank(evidence, generator=generator, progress=progress)
        return proposal_of(self.name, evidence, situation.budget, ranking, self.top)


def proposal_of(
    name: str, evidence: Evidence, budget: Budget, ranking: Ranking, top: int, notes: Sequence[str] = ()
) -> Proposal:
    """The proposal that a ranking leads to.

    Each current keyword gets the `top` candidates that go with it best, itself aside, or the best of all where the
    ranking is the same for every keyword.
    """
    order = best_first(ranking.scores, evidence.frequency)
    lists = {}
    for row, column in enumerate(evidence.current.tolist()):
        own = order if ranking.affinity is None else best_first(ranking.affinity[row], ranking.scores)
        lists[evidence.candidates[column].text] = evidence.keywords(own[own != column][:top]).texts
    return assemble(
        name,
        evidence,
        chosen=fitting(evidence, budget, order, budget.max_keywords or top * len(evidence.current)),
        ranked=order,
        per_keyword=lists,
        findings=_findings(evidence, ranking),
        notes=notes,
    )


def best_first(scores: Floats, ties: Floats) -> Ints:
    """Columns by falling score; where scores are equal, by falling `ties`.

    >>> best_first(np.array([1.0, 3.0, 1.0]), ties=np.array([0.0, 0.0, 1.0]))
    array([1, 2, 0])
    """
    return np.lexsort((-ties, -scores))


def posts_of_list(evidence: Evidence) -> Corpus:
    """The posts of the last window that carry a current keyword."""
    found = evidence.last.take(evidence.last.carrying(evidence.keywords(evidence.current)))
    if not len(found):
        names = ", ".join(evidence.keywords(evidence.current).texts)
        raise DataError(
            f"no post from {evidence.history.windows[-1]} on carries any of the keywords {names}; "
            "give only the posts before"
        )
    return found


def _findings(evidence: Evidence, ranking: Ranking) -> dict[int, Finding]:
    """The reason for each candidate, with the current keyword that it goes with best, if that is known."""
    findings = {}
    for column, reason in enumerate(ranking.reasons):
        extends = None
        if ranking.affinity is not None and column not in evidence.current:
            extends = evidence.candidates[int(evidence.current[ranking.affinity[:, column].argmax()])].text
        findings[column] = Finding(reason, extends=extends)
    return findings
