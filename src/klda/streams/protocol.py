"""The one protocol of live sources: what they hand out, how they are resumed, how their keywords change.

A source hands out bursts. A burst is whatever has arrived since the last one, with the cursor from which to resume
once all of it is stored. Delivery is at least once: after a restart the last events may come again, so that whoever
stores them drops ids that are there already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from klda.posts.formats.outcome import NUL_BYTES, Bad, Edit, Outcome, Removal, Row, Skip
from klda.types import KeywordSet, Post


@dataclass(frozen=True, slots=True)
class Received:
    """A post, or the new text of one that came before."""

    row: Row
    edited: bool = False

    @property
    def post(self) -> Post:
        """The post."""
        return self.row.post()


@dataclass(frozen=True, slots=True)
class Deleted:
    """A post that its author or the platform took back; it may be one that never came by.

    author: whether it is an account that is gone, with all that it posted; `id` is then what posts call their author.
    """

    id: str
    author: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of time in which posts may have been missed; `filled` when the source fetched them afterwards."""

    start: datetime
    end: datetime
    reason: str
    filled: bool = False


Event: TypeAlias = Received | Deleted | Gap


@dataclass(frozen=True, slots=True)
class Burst:
    """Events in the order in which they came; none when the source only says how far it is, or that it is alive."""

    events: tuple[Event, ...]
    cursor: str | None
    """Where to resume once these events are stored; None before the first."""


@dataclass(slots=True)
class Health:
    """Running counts of what a source met; nothing hostile is fatal, and nothing is passed over in silence.

    >>> health = Health()
    >>> health.reject(Bad("no text"))
    >>> dict(health.bad)
    {'no text': 1}
    """

    received: int = 0
    """Signs of life: new posts, deletions, keep-alives."""
    posts: int = 0
    deleted: int = 0
    duplicates: int = 0
    reconnects: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def count(self, event: Event) -> None:
        """Counts something new."""
        self.received += 1
        self.posts += isinstance(event, Received)
        self.deleted += isinstance(event, Deleted)

    def reject(self, outcome: Bad | Skip) -> None:
        """Counts what is not a post."""
        (self.bad if isinstance(outcome, Bad) else self.skipped)[outcome.reason] += 1


def event_of(outcome: Outcome) -> Received | Deleted | Skip | Bad:
    """What a record brings to a stream: a post, its new text, a deletion; the outcome itself where it is none of them.

    >>> event_of(Removal("delete", "1"))
    Deleted(id='1', author=False)
    """
    match outcome:
        case Row():
            return Received(outcome)
        case Edit(row=row):
            return Received(row, edited=True)
        case Removal(id=gone) if "\0" in gone:  # no post can have such an id
            return Bad(NUL_BYTES, "id", gone)
        case Removal(id=gone, author=author):
            return Deleted(gone, author)
    return outcome


class Source(Protocol):
    """A stream of posts."""

    @property
    def name(self) -> str:
        """What people call it, without secrets."""
        ...

    @property
    def replayable(self) -> bool:
        """Whether the past can be read again from a cursor: then nothing is lost, whatever breaks."""
        ...

    @property
    def unfiltered(self) -> bool:
        """Whether every post arrives, so that a sample of all of them can be kept."""
        ...

    @property
    def health(self) -> Health:
        """What it met so far."""
        ...

    def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Yields what arrives, from the cursor on or from now; to be closed with `contextlib.aclosing`."""
        ...

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Follows these keywords from now on; returns when they are in force, without a gap before."""
        ...
