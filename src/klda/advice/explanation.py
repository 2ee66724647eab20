"""The finding of a policy on each keyword, and the reason that people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, Protocol

from klda.advice.reasons import posts_in_words, sentences
from klda.types import Estimate, Keyword, KeywordSet

if TYPE_CHECKING:
    from klda.advice.interval import Interval
    from klda.arrays import Floats, Ints

Action = Literal["keep", "add", "drop", "hold"]
"""`hold` marks a candidate that is not added although it could be; its reason says why."""


@dataclass(frozen=True)
class Example:
    """An example post of a keyword. The id removes it when the post is deleted."""

    id: str
    text: str


@dataclass(frozen=True)
class Reason:
    """Why a keyword is kept, added, dropped or held back; a number that a policy does not compute is None."""

    keyword: Keyword
    action: Action
    text: str
    """The reason in words."""
    volume: str = ""
    """How many posts it brings, and how many of them are new, in words."""
    frequency: float | None = None
    """Share of the last window's posts that carry it."""
    expected_posts: Estimate | None = None
    """In the next window."""
    divergence: Estimate | None = None
    """From the current keyword (or list) that it extends, as the next window will measure it; smaller is closer."""
    high_frequency_distance: Estimate | None = None
    """Words gained minus words lost, the paper's R, as the next window will measure it."""
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    distance_from_subject: float | None = None
    """0 is the subject as first asked for, 1 shares no word with it."""
    extends: str | None = None
    """The current keyword whose topics it carries on."""
    code: str = ""
    """The reason for programs; `klda.advice.reasons` has them all."""
    facts: Mapping[str, float | str] = field(default_factory=dict)
    """The numbers behind the code."""
    relevance: float | None = None
    """Probability that what it newly brings is on the subject."""
    new_posts: float | None = None
    """Of the expected posts of an added keyword, those that the current list does not bring."""
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class FrontierPoint:
    """The best list at one setting of the dial."""

    novelty: float
    retention: float
    new_ground: float
    expected_posts: float
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """The finding of a policy on a candidate; `text` says it in words, without a full stop."""

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


class Facts(Protocol):
    """Facts about candidates, by column: `Evidence`, or the stored `Choices`."""

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
