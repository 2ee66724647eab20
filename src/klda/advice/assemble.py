"""From a choice to a proposal: keep, add, drop, and the reason for each in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding, FrontierPoint, reasons_for
from klda.advice.proposal import Known, Proposal
from klda.advice.reasons import SAMPLING_NOISE_ONLY, often, silent_in_words
from klda.advice.spelling import how_to_write, near_word
from klda.arrays import Ints


def assemble(
    policy: str,
    evidence: Evidence,
    *,
    chosen: Ints,
    ranked: Ints,
    per_keyword: Mapping[str, tuple[str, ...]] | None = None,
    findings: Mapping[int, Finding] | None = None,
    held: Mapping[int, str] | None = None,
    distance_from_subject: float | None = None,
    frontier: Sequence[FrontierPoint] = (),
    notes: Sequence[str] = (),
) -> Proposal:
    """The proposal to use the candidates at `chosen` next; `ranked` is the policy's order, `held` ones wait."""
    current = evidence.keywords(evidence.current)
    next_list = evidence.keywords(chosen)
    # where a filter collected the posts, only those posts of an added keyword are known that also have a current one
    at_least = not evidence.outside_known and len(next_list - current) > 0
    return Proposal(
        policy=policy,
        current=current,
        ranked=evidence.keywords(ranked),
        per_keyword=dict(per_keyword or {}),
        keep=next_list & current,
        add=next_list - current,
        drop=current - next_list,
        reasons=reasons_for(
            evidence, chosen, findings or {}, held or {}, required=evidence.required, at_least=at_least
        ),
        expected_posts=evidence.expected_posts(chosen) if len(chosen) else None,
        posts_now=evidence.expected_posts(evidence.current) if len(evidence.current) else None,
        known=known_of(evidence),
        at_least=at_least,
        distance_from_subject=distance_from_subject,
        frontier=tuple(frontier),
        notes=(*notes, *_silent_keywords(evidence), *_untested_intervals(findings or {})),
        window=evidence.history.windows[-1].end.isoformat(),
    )


def known_of(evidence: Evidence) -> Known:
    """The posts and dates that were read, and the number of posts that carry a current keyword."""
    history = evidence.history
    return Known(
        posts=len(history) + len(history.apart),
        with_keyword=len(history.carrying(evidence.keywords(evidence.current))),
        windows=history.n_windows,
        start=history.windows[0].start.isoformat(),
        end=history.windows[-1].end.isoformat(),
        often=often(history.windows[-1].length),
    )


def _silent_keywords(evidence: Evidence) -> list[str]:
    """Notes on current and required keywords that no post of the history carries."""
    seen = np.unique(evidence.history.observed.values)
    named = dict.fromkeys([*evidence.current.tolist(), *evidence.required.tolist()])
    silent = evidence.keywords(column for column in named if column not in seen)
    words = evidence.history.vocabulary
    return [
        silent_in_words(keyword.text, near_word(keyword.text, words), how_to_write(keyword.text)) for keyword in silent
    ]


def _untested_intervals(findings: Mapping[int, Finding]) -> list[str]:
    """A note if no past window could test the intervals."""
    untested = any(finding.divergence and not finding.tested for finding in findings.values())
    return [SAMPLING_NOISE_ONLY] if untested else []
