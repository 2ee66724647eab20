"""From a choice to a proposal: keep, add, drop, and the reason for each in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from klda.policies.evidence import Evidence
from klda.policies.proposal import Action, FrontierPoint, Proposal, Reason
from klda.selection.arrays import Ints
from klda.types import Estimate, KeywordSet


@dataclass(frozen=True)
class Finding:
    """What a policy found out about a candidate; `text` says it in words, without a full stop."""

    text: str = ""
    divergence: Estimate | None = None
    high_frequency_distance: Estimate | None = None
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    distance_from_subject: float | None = None
    extends: str | None = None


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
    """The proposal to use the candidates at `chosen` next; `ranked` is the policy's order, `held` holds some back."""
    current = evidence.keywords(evidence.current)
    next_list = evidence.keywords(chosen)
    keep = next_list & current
    add, drop = next_list - current, current - next_list
    findings, held = findings or {}, held or {}
    actions: list[tuple[Action, KeywordSet]] = [
        ("keep", keep),
        ("add", add),
        ("drop", drop),
        ("hold", evidence.keywords(held) - next_list - current),
    ]
    reasons = []
    for action, keywords in actions:
        for column in evidence.columns(keywords).tolist():
            finding = findings.get(column, Finding())
            reasons.append(_reason(action, column, finding, evidence, held.get(column)))
    return Proposal(
        policy=policy,
        current=current,
        ranked=evidence.keywords(ranked),
        per_keyword=dict(per_keyword or {}),
        keep=keep,
        add=add,
        drop=drop,
        reasons=tuple(reasons),
        expected_posts=evidence.expected_posts(chosen) if len(chosen) else None,
        distance_from_subject=distance_from_subject,
        frontier=tuple(frontier),
        notes=(*notes, *_silent_keywords(evidence)),
        window=evidence.history.windows[-1].end.isoformat(),
    )


def _reason(action: Action, column: int, finding: Finding, evidence: Evidence, held: str | None) -> Reason:
    posts = evidence.volume.at(column)
    length = evidence.history.windows[-1].length
    parts = ["held back: " + held if action == "hold" and held else "", finding.text, in_words(posts, length)]
    return Reason(
        keyword=evidence.candidates[column],
        action=action,
        text="; ".join(part for part in parts if part),
        frequency=float(evidence.frequency[column]),
        expected_posts=posts,
        divergence=finding.divergence,
        high_frequency_distance=finding.high_frequency_distance,
        gained=finding.gained,
        lost=finding.lost,
        distance_from_subject=finding.distance_from_subject,
        extends=finding.extends,
        examples=evidence.examples(column) if action != "drop" else (),
    )


def in_words(posts: Estimate, window: timedelta) -> str:
    """How many posts are expected, rounded as one would say it.

    >>> in_words(Estimate(1234.5, 900, 1600), timedelta(days=7)), in_words(Estimate(0.2, 0, 1), timedelta(days=2))
    ('about 1,200 posts a week', 'hardly any posts a window')
    """
    often = {1: "a day", 7: "a week"}.get(window.days if window == timedelta(days=window.days) else 0, "a window")
    if posts.mean < 0.5:
        return f"hardly any posts {often}"
    n = f"{float(f'{posts.mean:.2g}'):,.0f}"
    return f"about {n} post{'' if n == '1' else 's'} {often}"


def _silent_keywords(evidence: Evidence) -> list[str]:
    """Notes on current keywords that no post of the history carries."""
    seen = np.unique(evidence.history.observed.values)
    return [
        f"no post carries the keyword {evidence.candidates[column].text!r}; check how it is written"
        for column in evidence.current.tolist()
        if column not in seen
    ]
