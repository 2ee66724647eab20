"""A policy that fuses the rankings of several policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.arrays import Floats, Ints
from klda.baselines.ranked import Ranking, proposal_of
from klda.errors import DataError, SettingError
from klda.policies.registry import policy
from klda.types import Progress, silent

FLATTENING = 60.0
"""The usual constant of reciprocal rank fusion: the larger, the less the very first places count."""


@dataclass
class Ensemble:
    """Candidates that several policies rank high: the sum of 1 / (60 + rank) over its members.

    `members` are names of policies, or policies; one that cannot say anything about the data is left out with a note.
    The lists of each current keyword are fused likewise. `top` is how many each current keyword contributes to the list
    when the budget does not say.
    """

    members: Sequence[str | Policy] = ("counting-scored", "cooccurrence", "embedding")
    top: int = 2

    name = "ensemble"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The candidates of the best fused ranks in place of the current list, as many as the budget allows."""
        evidence = Evidence.of(situation)
        found: list[Proposal] = []
        notes: list[str] = []
        members = self._made(len(evidence.candidates))
        for done, (member, seed) in enumerate(zip(members, generator.integers(2**32, size=len(members)), strict=True)):
            progress(self.name, done, len(members))
            own = np.random.default_rng(seed)  # so that what one member draws moves no other's draws
            try:
                found.append(
                    member.propose(
                        replace(situation, history=evidence.history, candidates=evidence.candidates),
                        generator=own,
                        progress=progress,
                    )
                )
            except DataError as error:
                notes.append(f"`{member.name}` is left out of the ensemble: {error}")
        progress(self.name, len(members), len(members))
        if not found:
            raise DataError(f"no member of the ensemble can advise on these posts; {'; '.join(notes)}")
        q = len(evidence.candidates)
        orders = [evidence.columns(proposal.ranked) for proposal in found]
        affinity = [
            fused([_order(proposal, text, evidence) for proposal in found], q)
            for text in evidence.keywords(evidence.current).texts
        ]
        ranking = Ranking(fused(orders, q), _reasons(found, orders, q), affinity=np.array(affinity))
        return proposal_of(self.name, evidence, situation.budget, ranking, self.top, notes)

    def _made(self, n_candidates: int) -> list[Policy]:
        """The members, with settings that rank all candidates."""
        names = [member if isinstance(member, str) else member.name for member in self.members]
        if not names or self.name in names:
            raise SettingError(
                f"members of an ensemble are one or more other policies, got {', '.join(names) or 'none'}"
            )
        made = [policy(member) if isinstance(member, str) else copy(member) for member in self.members]
        for member in made:
            if hasattr(member, "top"):
                member.top = n_candidates
        return made


def fused(orders: Iterable[Ints], n_candidates: int) -> Floats:
    """The sum over orders (the best column first) of 1 / (60 + rank); what an order leaves out gains nothing. # (Q,)

    >>> fused([np.array([0, 2]), np.array([2])], 3) * 61 * 62
    array([ 62.,   0., 123.])
    """
    scores = np.zeros(n_candidates)
    for order in orders:
        scores[order] += 1 / (FLATTENING + 1 + np.arange(len(order)))
    return scores


def _order(proposal: Proposal, keyword: str, evidence: Evidence) -> Ints:
    """A member's list for a current keyword, or its general ranking if it makes no such lists."""
    texts = proposal.per_keyword.get(keyword, proposal.ranked.texts)
    return np.array([evidence.candidates.index(text) for text in texts if text != keyword], dtype=np.int64)


def _reasons(found: Sequence[Proposal], orders: Sequence[Ints], n_candidates: int) -> list[str]:
    """The rank that each member gives every candidate, in words."""
    places: list[list[str]] = [[] for _ in range(n_candidates)]
    for proposal, order in zip(found, orders, strict=True):
        for place, column in enumerate(order.tolist(), start=1):
            places[column].append(f"{place} by {proposal.policy}")
    return [f"rank {', '.join(ranks)}" if ranks else "ranked by no member" for ranks in places]
