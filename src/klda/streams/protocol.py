"""The protocol of live sources: the events that they bring, how to resume them, and how their keywords change.

A source yields bursts. A burst holds the events since the last one, and the cursor from which to resume when they are
stored. Delivery is at least once: after a restart the last events may come again, so the store drops ids that it has.
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
    """A post, or with `edited` the new text of an earlier post."""

    row: Row
    edited: bool = False

    @property
    def post(self) -> Post:
        """The post."""
        return self.row.post()


@dataclass(frozen=True, slots=True)
class Deleted:
    """A post that its author or the platform deleted; it may be a post that was never received.

    author: whether an account was deleted with all its posts; `id` is then the name of the author.
    """

    id: str
    author: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A period in which posts may have been missed; `filled` if the source fetched them afterwards."""

    start: datetime
    end: datetime
    reason: str
    filled: bool = False


Event: TypeAlias = Received | Deleted | Gap


@dataclass(frozen=True, slots=True)
class Burst:
    """Events in order of arrival; empty if the source only reports its cursor."""

    events: tuple[Event, ...]
    cursor: str | None
    """Where to resume when these events are stored; None before the first event."""


@dataclass(slots=True)
class Health:
    """Counts of the events of a source. Bad input is never fatal, and always counted.

    >>> health = Health()
    >>> health.reject(Bad("no text"))
    >>> dict(health.bad)
    {'no text': 1}
    """

    received: int = 0
    """New posts, deletions and keep-alives: they show that the connection is alive."""
    posts: int = 0
    deleted: int = 0
    duplicates: int = 0
    reconnects: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def count(self, event: Event) -> None:
        """Counts a new event."""
        self.received += 1
        self.posts += isinstance(event, Received)
        self.deleted += isinstance(event, Deleted)

    def reject(self, outcome: Bad | Skip) -> None:
        """Counts a record that is not a post, by reason."""
        (self.bad if isinstance(outcome, Bad) else self.skipped)[outcome.reason] += 1


def event_of(outcome: Outcome) -> Received | Deleted | Skip | Bad:
    """The event of an outcome: a post, an edit or a deletion; the outcome itself for other records.

    >>> event_of(Removal("delete", "1"))
    Deleted(id='1', author=False)
    """
    match outcome:
        case Row():
            return Received(outcome)
        case Edit(row=row):
            return Received(row, edited=True)
        case Removal(id=gone) if "\0" in gone:  # no post has such an id
            return Bad(NUL_BYTES, "id", gone)
        case Removal(id=gone, author=author):
            return Deleted(gone, author)
    return outcome


class Source(Protocol):
    """A stream of posts."""

    @property
    def name(self) -> str:
        """The name for people, without secrets."""
        ...

    @property
    def replayable(self) -> bool:
        """Whether the past can be read again from a cursor; then no failure loses posts."""
        ...

    @property
    def unfiltered(self) -> bool:
        """Whether all posts arrive, so that an unfiltered sample can be kept."""
        ...

    @property
    def health(self) -> Health:
        """The counts so far."""
        ...

    def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of arriving events, from the cursor on or from now; close it with `contextlib.aclosing`."""
        ...

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Follows these keywords from now on; returns when they apply. No post is missed during the change."""
        ...
