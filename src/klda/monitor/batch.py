"""What a collector has in hand between two commits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from klda.posts.formats.outcome import Row
from klda.streams import Collected, Deleted, Gap, Selection

MOST_EVENTS = 5_000
MOST_CHARACTERS = 16_000_000
"""What is held at most before it is committed: memory stays bounded however fast a stream is."""
SECONDS = 5.0
"""How long a post waits at most to be committed."""
IDLE_SECONDS = 60.0
"""How long a cursor waits that has moved without bringing anything: each commit costs a little for ever."""


@dataclass
class PostBatch:
    """Posts, samples, deletions and gaps since the last commit, and the cursor after them."""

    cursor: str | None = None
    posts: list[Row] = field(default_factory=list)
    keywords: list[tuple[str, ...]] = field(default_factory=list)
    sample: list[Row] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    authors: set[str] = field(default_factory=set)
    """Those whose accounts are gone."""
    edited: set[str] = field(default_factory=set)
    """Ids of posts whose new text is among these; a post is never both."""
    gaps: list[Gap] = field(default_factory=list)
    characters: int = 0
    moved: bool = False
    """Whether the cursor lies behind the last commit."""
    began: float = field(default_factory=time.monotonic)

    def add(self, selection: Selection) -> None:
        """Takes in what the filter left of a burst."""
        for event in selection.events:
            if isinstance(event, Collected):
                if event.edited:
                    self._take_back(event.row.id)
                self.characters += len(event.row.text)
                if event.keywords:
                    self.posts.append(event.row)
                    self.keywords.append(event.keywords)
                if event.sampled:
                    self.sample.append(event.row)
            elif isinstance(event, Deleted) and event.author:
                self.authors.add(event.id)
            elif isinstance(event, Deleted):
                self.deleted.add(event.id)
                self.edited.discard(event.id)
            elif isinstance(event, Gap):
                self.gaps.append(event)
        self.moved |= selection.cursor != self.cursor
        self.cursor = selection.cursor

    def _take_back(self, name: str) -> None:
        """Makes room for the new text of a post."""
        self.deleted.discard(name)
        self.edited.add(name)
        kept = [(row, carried) for row, carried in zip(self.posts, self.keywords, strict=True) if row.id != name]
        self.posts, self.keywords = [row for row, _ in kept], [carried for _, carried in kept]
        self.sample = [row for row in self.sample if row.id != name]

    @property
    def n_events(self) -> int:
        """How much it holds."""
        return len(self.posts) + len(self.sample) + len(self.deleted) + len(self.authors) + len(self.gaps)

    @property
    def is_full(self) -> bool:
        """Whether it must be committed before more is taken in."""
        return self.n_events >= MOST_EVENTS or self.characters >= MOST_CHARACTERS

    @property
    def waits(self) -> float:
        """Seconds until it should be committed, full or not; below 0 when that is overdue."""
        if not (self.n_events or self.moved):
            return IDLE_SECONDS
        return self.began + (SECONDS if self.n_events else IDLE_SECONDS) - time.monotonic()
