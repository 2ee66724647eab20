"""Posts deleted at their source: noted as they come, forgotten together.

A note is durable before the cursor moves past the event that told of it, so that no crash loses one; and forgetting
many posts at once rewrites few files. It can be repeated at will.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from klda.store import schema
from klda.store.database import Database, upsert
from klda.store.posts import PostStore
from klda.store.proposals import Proposals
from klda.store.topics import Topics

_AT_ONCE = 10_000


@dataclass(frozen=True)
class Deletions:
    """The deletions of one monitor that wait to be carried out."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]
    proposals: Proposals
    topics: Topics

    def note(self, source: str, ids: Iterable[str]) -> None:
        """Notes posts that a source has deleted; call it before the batch whose cursor lies behind them."""
        now = self.clock()
        rows = [{"monitor": self.monitor, "source": source, "post": name, "noted": now} for name in dict.fromkeys(ids)]
        if rows:
            self.database.write(lambda c: upsert(c, schema.deletions, rows))

    def pending(self, limit: int = _AT_ONCE) -> list[tuple[str, str]]:
        """Source and id of the posts noted first."""
        t = schema.deletions
        query = select(t.c.source, t.c.post).where(t.c.monitor == self.monitor).order_by(t.c.noted, t.c.post)
        return self.database.read(lambda c: [(source, post) for source, post in c.execute(query.limit(limit))])

    def carry_out(self, posts: PostStore) -> int:
        """Deletes what was noted from the posts and from all examples; returns how many posts went.

        Call it every hour or so, as the one writer; `PostStore.vacuum` then takes them from the table's history.
        """
        deleted = 0
        while pending := self.pending():
            for source in dict.fromkeys(source for source, _ in pending):
                ids = [post for origin, post in pending if origin == source]
                deleted += posts.delete(ids, source=source)
                shown = [posts.stored_id(name) for name in ids]
                self.proposals.withdraw_examples(shown)
                self.topics.withdraw_examples(shown)
                self._done(source, ids)
        return deleted

    def _done(self, source: str, ids: list[str]) -> None:
        t = schema.deletions
        chosen = (t.c.monitor == self.monitor) & (t.c.source == source) & t.c.post.in_(ids)
        self.database.write(lambda c: c.execute(delete(t).where(chosen)))
