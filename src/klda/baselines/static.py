"""Changing nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.assemble import assemble
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.baselines.ranked import fitting, left_out
from klda.types import Progress, silent


@dataclass
class Static:
    """Keeps the list as it is: the yardstick for every other policy."""

    name = "static"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
    ) -> Proposal:
        """The current list; only required or forbidden words, or a budget too small for it, can change that."""
        evidence = Evidence.of(situation)
        chosen = fitting(evidence, situation.budget, evidence.current)
        findings = {column: Finding("the list stays as it is") for column in chosen.tolist()}
        findings |= left_out(evidence, situation.budget, chosen)
        return assemble(self.name, evidence, chosen=chosen, ranked=evidence.current, findings=findings)
