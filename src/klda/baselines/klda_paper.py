"""The paper's own policy, to the letter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.baselines.algorithm2 import extend
from klda.baselines.scored import proposal_by_extensions
from klda.types import Progress, silent


@dataclass
class KLDAPaper:
    """KLDA as the paper trains it, and its Algorithm 2 as it stands: each keyword gives way to its extensions.

    `pretraining` and `iterations` are the numbers of training steps; `top` is how many extensions a keyword has.
    """

    top: int = 2
    n_topics: int = 5
    pretraining: int = 2500
    iterations: int = 10_000
    divergence: str = "kl"

    name = "klda-paper"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The extensions of the current keywords in their place; the current list when there are none."""
        from klda.model.klda import KLDA  # brings torch

        evidence = Evidence.of(situation)
        model = KLDA.paper(
            n_topics=self.n_topics,
            pretraining_iterations=self.pretraining,
            max_iterations=self.iterations,
            random_state=int(generator.integers(2**31)),
        ).fit(evidence.history, progress=progress)
        words = model.word_distributions(evidence.candidates).astype(np.float64)  # (Q, V)
        found = extend(words, evidence.frequency, evidence.current, top=None, divergence=self.divergence)
        return proposal_by_extensions(
            self.name,
            evidence,
            situation.budget,
            words,
            found,
            self.top,
            divergence=self.divergence,
            generator=generator,
        )
