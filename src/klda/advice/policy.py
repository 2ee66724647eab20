"""The one protocol of all that can give advice."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.types import Progress, silent


class Policy(Protocol):
    """Proposes the next keyword list from what past windows collected.

    The history's last window is the latest one collected, with the current list. Random draws come from `generator`, so
    that the same call gives the same advice.
    """

    name: str

    def propose(self, situation: Situation, *, generator: np.random.Generator, progress: Progress = silent) -> Proposal:
        """The advice for the window after the history's last."""
        ...
