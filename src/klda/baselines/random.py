"""Chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.assemble import assemble
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.baselines.ranked import fitting
from klda.types import Progress, silent


@dataclass
class Random:
    """Candidates drawn uniformly: the least that a policy must beat.

    `top` is how many each current keyword contributes to the list when the budget does not say.
    """

    top: int = 2

    name = "random"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,  # noqa: ARG002
    ) -> Proposal:
        """Candidates drawn at random in place of the current list, as many as the budget allows."""
        evidence = Evidence.of(situation)
        ranked = generator.permutation(len(evidence.candidates))
        size = situation.budget.max_keywords or self.top * len(situation.current)
        chosen = fitting(evidence, situation.budget, ranked, size)
        findings = {column: Finding("drawn at random") for column in ranked.tolist()}
        lists = {}
        for keyword, column in zip(situation.current, evidence.current.tolist(), strict=True):
            others = np.delete(np.arange(len(evidence.candidates)), column)
            lists[keyword.text] = evidence.keywords(generator.permutation(others)[: self.top]).texts
        return assemble(self.name, evidence, chosen=chosen, ranked=ranked, per_keyword=lists, findings=findings)
