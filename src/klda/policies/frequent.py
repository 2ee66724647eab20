"""Volume alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.corpus.corpus import Corpus
from klda.policies.assemble import Finding, assemble
from klda.policies.evidence import Evidence
from klda.policies.lists import fitting
from klda.policies.proposal import Proposal
from klda.types import Budget, KeywordSet, Progress, silent


@dataclass
class Frequent:
    """The candidates that most posts of the last window carry, whatever they are about.

    `top` is how many each current keyword contributes to the list when the budget does not say.
    """

    top: int = 2

    name = "frequent"

    def propose(
        self,
        history: Corpus,
        current: KeywordSet,
        candidates: KeywordSet,
        budget: Budget,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
    ) -> Proposal:
        """The most frequent candidates in place of the current list, as many as the budget allows."""
        evidence = Evidence.of(history, current, candidates, budget)
        ranked = np.argsort(-evidence.frequency, kind="stable")
        size = budget.max_keywords or self.top * len(current)
        chosen = fitting(evidence, budget, ranked, size)
        findings = {
            column: Finding(f"in {evidence.frequency[column]:.1%} of the last window's posts")
            for column in ranked.tolist()
        }
        lists = {
            keyword.text: tuple(k.text for k in evidence.keywords(ranked) if k != keyword)[: self.top]
            for keyword in current
        }
        return assemble(self.name, evidence, chosen=chosen, ranked=ranked, per_keyword=lists, findings=findings)
