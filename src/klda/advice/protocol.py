"""The one protocol that everything that can propose keywords implements."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from klda.advice.proposal import Proposal
from klda.corpus.corpus import Corpus
from klda.types import Budget, KeywordSet, Progress, silent


class Policy(Protocol):
    """Proposes the next keyword list from what past windows collected.

    `history` is a corpus matched against `candidates`; its last window is the latest one collected, with `current`.
    Random draws come from `generator`, so that the same call gives the same advice.
    """

    name: str

    def propose(
        self,
        history: Corpus,
        current: KeywordSet,
        candidates: KeywordSet,
        budget: Budget,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The advice for the window after the history's last."""
        ...
