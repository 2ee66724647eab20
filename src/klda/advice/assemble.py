"""From a choice to a proposal: keep, add, drop, and the reason for each in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.proposal import Action, Example, FrontierPoint, Known, Proposal, Reason
from klda.advice.reasons import often, posts_in_words, sentences, silent_in_words
from klda.advice.spelling import how_to_write, near_word
from klda.advice.uncertainty import SAMPLING_NOISE_ONLY
from klda.selection.arrays import Floats, Ints
from klda.selection.interval import Interval
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
    tested: bool = True
    """Whether past windows have tested the intervals."""
    code: str = ""
    """What the text says, for programs; see `klda.advice.reasons`."""
    facts: Mapping[str, float | str] = field(default_factory=dict)
    """The numbers that the text is made of."""
    relevance: float | None = None
    """Probability that what the word newly brings is on the subject."""
    new_posts: float | None = None
    """Of its expected posts, those that the current list does not bring."""

    def after(self, text: str) -> Finding:
        """The same, with something to say first."""
        return replace(self, text=sentences([text, self.text]).removesuffix("."))


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
    # A filter that let nothing else in has shown of an added keyword the posts beside today's, and no others.
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
    """What was read, and how much of it carries a current keyword."""
    history = evidence.history
    return Known(
        posts=len(history) + len(history.apart),
        with_keyword=len(history.carrying(evidence.keywords(evidence.current))),
        windows=history.n_windows,
        start=history.windows[0].start.isoformat(),
        end=history.windows[-1].end.isoformat(),
        often=often(history.windows[-1].length),
    )


class Facts(Protocol):
    """What is known about candidates, by column: `Evidence`, or the `Choices` that are kept of it."""

    @property
    def candidates(self) -> KeywordSet:
        """All that can be chosen."""

    @property
    def current(self) -> Ints:
        """Columns of the current list."""

    @property
    def frequency(self) -> Floats:
        """Share of the last window's posts that carry each candidate. # (Q,)"""

    @property
    def volume(self) -> Interval:
        """Posts that each candidate is expected to bring. # (Q,)"""

    @property
    def length(self) -> timedelta:
        """How long a window lasts."""

    def examples(self, column: int) -> tuple[Example, ...]:
        """Posts that carry a candidate."""


def reasons_for(
    facts: Facts,
    chosen: Ints,
    findings: Mapping[int, Finding],
    held: Mapping[int, str],
    *,
    required: Ints,
    at_least: bool = False,
) -> tuple[Reason, ...]:
    """Why each keyword of a choice is kept or added, each that is missing from it dropped, and some held back.

    `at_least` says that the posts of added ones are those that today's list brings anyway; `required` ones have no say.
    """
    current = facts.current.tolist()
    asked_for = {column: findings.get(column, Finding()).after("required") for column in required.tolist()}
    findings = {**findings, **asked_for}
    actions: list[tuple[Action, list[int]]] = [
        ("keep", [column for column in chosen.tolist() if column in current]),
        ("add", [column for column in chosen.tolist() if column not in current]),
        ("drop", [column for column in current if column not in chosen]),
        ("hold", [column for column in held if column not in chosen and column not in current]),
    ]
    return tuple(
        _reason(action, column, findings.get(column, Finding()), facts, held.get(column), at_least and action == "add")
        for action, columns in actions
        for column in columns
    )


def _reason(
    action: Action, column: int, finding: Finding, facts: Facts, held: str | None, at_least: bool = False
) -> Reason:
    posts = facts.volume.at(column)
    why = {"hold": f"held back: {held}", "drop": held}.get(action) if held else None
    new = finding.new_posts if action == "add" else None
    return Reason(
        keyword=facts.candidates[column],
        action=action,
        text=sentences([why, finding.text]),
        volume=posts_in_words(posts, facts.length, new, at_least=at_least),
        code=finding.code,
        facts=dict(finding.facts),
        relevance=finding.relevance,
        new_posts=None if new is None else min(new, round(posts.mean, 1)),
        frequency=float(facts.frequency[column]),
        expected_posts=posts,
        divergence=finding.divergence,
        high_frequency_distance=finding.high_frequency_distance,
        gained=finding.gained,
        lost=finding.lost if action == "drop" else (),
        distance_from_subject=finding.distance_from_subject,
        extends=finding.extends,
        examples=facts.examples(column) if action != "drop" else (),
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
    """A note where there are intervals that no past window could test."""
    untested = any(finding.divergence and not finding.tested for finding in findings.values())
    return [SAMPLING_NOISE_ONLY] if untested else []
