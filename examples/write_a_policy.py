"""A policy of my own: the words that rise fastest. Under the entry point group `klda.policies` it can be named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import klda
from klda import Evidence, Finding, Progress, Proposal, Situation, assemble, fitting, silent


@dataclass
class Rising:
    """Candidates that the last window has more of than the one before."""

    size: int = 6

    name = "rising"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,  # noqa: ARG002  nothing here is random
        progress: Progress = silent,  # noqa: ARG002
    ) -> Proposal:
        """The fastest risers, as many as the budget allows."""
        evidence = Evidence.of(situation)
        before, now = (
            np.bincount(situation.history.window(index).observed.values, minlength=len(evidence.candidates))
            for index in (-2, -1)
        )
        ranked = np.argsort(-(now + 1) / (before + 1), kind="stable")
        findings = {int(c): Finding(f"from {before[c]} to {now[c]} posts") for c in ranked}
        chosen = fitting(evidence, situation.budget, ranked, self.size)
        return assemble(self.name, evidence, chosen=chosen, ranked=ranked, findings=findings)


advice = klda.recommend(klda.World(weeks=5, posts_per_week=4000, emergence=4), ["health", "hospital"], policy=Rising())
for reason in advice.reasons:
    print(f"{reason.action:5} {reason.keyword.text:14} {reason.text}")
