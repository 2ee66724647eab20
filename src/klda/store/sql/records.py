"""Everything that a monitor keeps in SQL, behind one object; and the deletions that wait to be carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, delete, select

from klda.store.delta.post_store import PostStore
from klda.store.sql import sql_tables
from klda.store.sql.database import Database, upsert
from klda.store.sql.journal import Jobs, Journal
from klda.store.sql.keyword_history import KeywordHistory
from klda.store.sql.proposal_records import Proposals
from klda.store.sql.sql_tables import audit, metadata
from klda.store.sql.topic_records import TopicRecords
from klda.store.sql.volume_records import Volume

_AT_ONCE = 10_000


def now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


class Records:
    """The records of one monitor.

    address: a path for SQLite, an address such as `postgresql://user@host/name`, or an open database.
    clock: the time for new rows; a replay has its own clock.

    >>> import tempfile
    >>> from klda.types import KeywordSet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = Records(Path(folder) / "state.db", "health")
    ...     records.keywords.switch(KeywordSet.of("health", "drug"), decided_by="ann")
    ...     records.keywords.active().texts
    ('health', 'drug')
    """

    def __init__(self, address: str | Path | Database, monitor: str, *, clock: Callable[[], datetime] = now) -> None:
        self.database = address if isinstance(address, Database) else Database(address)
        self.monitor = monitor
        self.journal = Journal(self.database, monitor, clock)
        self.keywords = KeywordHistory(self.database, monitor, clock)
        self.proposals = Proposals(self.database, monitor, clock, self.journal)
        self.jobs = Jobs(self.database, monitor, clock)
        self.volume = Volume(self.database, monitor)
        self.topics = TopicRecords(self.database, monitor, clock)
        self.deletions = Deletions(self.database, monitor, clock, self.proposals, self.topics)

    def erase(self) -> None:
        """Deletes all records of this monitor in one transaction, except the audit log, which nobody can delete."""

        def work(connection: Connection) -> None:
            for table in reversed(metadata.sorted_tables):  # first the tables that refer to others
                if "monitor" in table.c and table is not audit:
                    connection.execute(delete(table).where(table.c.monitor == self.monitor))

        self.database.write(work)

    def close(self) -> None:
        """Closes all connections."""
        self.database.close()


@dataclass(frozen=True)
class Deletions:
    """The deletions and edits of one monitor that wait to be carried out.

    The program notes a deletion before it moves the cursor past the event, so no crash loses one. It deletes many posts
    at once, because each deletion rewrites files. Running it twice is harmless. Of an edited post the newest row stays.
    After a crash between the note and the new row, this is the old row, and nothing is lost.
    """

    database: Database
    monitor: str
    clock: Callable[[], datetime]
    proposals: Proposals
    topics: TopicRecords

    def note(self, source: str, ids: Iterable[str], *, edited: bool = False, author: bool = False) -> None:
        """Notes posts that a source has deleted or edited; call it before the batch with a cursor after these events.

        The last note on a post counts. author: whether `ids` are accounts whose posts are all deleted.
        """
        # no post has an id with a zero byte, and PostgreSQL refuses it
        names = dict.fromkeys(name for name in ids if "\0" not in name)
        row = {"monitor": self.monitor, "source": source, "noted": self.clock(), "edited": edited, "author": author}
        rows = [row | {"post": name} for name in names]
        if rows:
            self.database.write(lambda c: upsert(c, sql_tables.deletions, rows, replace=["edited"]))

    def pending(self, limit: int = _AT_ONCE) -> list[tuple[str, str, bool, bool]]:
        """The oldest notes: source, id, whether the post was edited, and whether the id is an account."""
        t = sql_tables.deletions
        query = select(t.c.source, t.c.post, t.c.edited, t.c.author).where(t.c.monitor == self.monitor)
        query = query.order_by(t.c.noted, t.c.post).limit(limit)
        return self.database.read(lambda c: [(*row,) for row in c.execute(query)])

    def carry_out(self, posts: PostStore) -> int:
        """How many posts were deleted: the noted ones, from the store of posts and from all examples.

        Call it about every hour, in the process that writes; `PostStore.vacuum` then removes them from the history.
        """
        deleted = 0
        while pending := self.pending():
            for kind in dict.fromkeys((source, edited, author) for source, _, edited, author in pending):
                source, edited, author = kind
                names = [post for origin, post, *rest in pending if (origin, *rest) == kind]
                shown = posts.ids_by(names, source=source) if author else [posts.stored_id(name) for name in names]
                self._withdraw(shown)  # before: after a crash nobody would know the posts of an account
                went = posts.delete(names, source=source, by="author" if author else "id", but_newest=edited)
                self._withdraw(shown)  # and after: a proposal that was saved meanwhile may show them
                deleted += 0 if edited else went
                self._done(source, names)
        return deleted

    def _withdraw(self, shown: list[str]) -> None:
        self.proposals.withdraw_examples(shown)
        self.topics.withdraw_examples(shown)

    def _done(self, source: str, ids: list[str]) -> None:
        t = sql_tables.deletions
        chosen = (t.c.monitor == self.monitor) & (t.c.source == source) & t.c.post.in_(ids)
        self.database.write(lambda c: c.execute(delete(t).where(chosen)))
