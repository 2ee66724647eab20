"""Posts deleted or edited at their source: noted as they come, forgotten together.

A note is durable before the cursor moves past the event that told of it, so that no crash loses one; and forgetting
many posts at once rewrites few files. It can be repeated at will. Of an edited post the row that came last stays: where
a crash came between the note and the new row, that is the old one, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from klda.store.delta.post_store import PostStore
from klda.store.sql import tables
from klda.store.sql.database import Database, upsert
from klda.store.sql.proposal_records import Proposals
from klda.store.sql.topic_records import TopicRecords

_AT_ONCE = 10_000


@dataclass(frozen=True)
class Deletions:
    """The deletions and edits of one monitor that wait to be carried out."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]
    proposals: Proposals
    topics: TopicRecords

    def note(self, source: str, ids: Iterable[str], *, edited: bool = False, author: bool = False) -> None:
        """Notes posts that a source has deleted or edited; call it before the batch whose cursor lies behind them.

        What is noted last of a post holds. author: whether these are accounts, all of whose posts are deleted.
        """
        # no post has an id with a zero byte, and PostgreSQL takes none
        names = dict.fromkeys(name for name in ids if "\0" not in name)
        row = {"monitor": self.monitor, "source": source, "noted": self.clock(), "edited": edited, "author": author}
        rows = [row | {"post": name} for name in names]
        if rows:
            self.database.write(lambda c: upsert(c, tables.deletions, rows, replace=["edited"]))

    def pending(self, limit: int = _AT_ONCE) -> list[tuple[str, str, bool, bool]]:
        """Source and id of what was noted first, whether it was edited, and whether it is an account."""
        t = tables.deletions
        query = select(t.c.source, t.c.post, t.c.edited, t.c.author).where(t.c.monitor == self.monitor)
        query = query.order_by(t.c.noted, t.c.post).limit(limit)
        return self.database.read(lambda c: [(*row,) for row in c.execute(query)])

    def carry_out(self, posts: PostStore) -> int:
        """Deletes what was noted from the posts and from all examples; returns how many posts were deleted.

        Call it every hour or so, as the one writer; `PostStore.vacuum` then takes them from the table's history.
        """
        deleted = 0
        while pending := self.pending():
            for kind in dict.fromkeys((source, edited, author) for source, _, edited, author in pending):
                source, edited, author = kind
                names = [post for origin, post, *rest in pending if (origin, *rest) == kind]
                shown = posts.ids_by(names, source=source) if author else [posts.stored_id(name) for name in names]
                self._withdraw(shown)  # before: a crash would leave nobody who knows which posts an account had
                went = posts.delete(names, source=source, by="author" if author else "id", but_newest=edited)
                self._withdraw(shown)  # and after: a proposal that was saved meanwhile still found them stored
                deleted += 0 if edited else went
                self._done(source, names)
        return deleted

    def _withdraw(self, shown: list[str]) -> None:
        self.proposals.withdraw_examples(shown)
        self.topics.withdraw_examples(shown)

    def _done(self, source: str, ids: list[str]) -> None:
        t = tables.deletions
        chosen = (t.c.monitor == self.monitor) & (t.c.source == source) & t.c.post.in_(ids)
        self.database.write(lambda c: c.execute(delete(t).where(chosen)))
