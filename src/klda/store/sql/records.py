"""Everything that a monitor keeps in SQL, behind one object."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, delete

from klda.store.sql.database import Database
from klda.store.sql.deletions import Deletions
from klda.store.sql.job_records import Jobs
from klda.store.sql.journal import Journal
from klda.store.sql.keyword_history import KeywordHistory
from klda.store.sql.proposal_records import Proposals
from klda.store.sql.tables import audit, metadata
from klda.store.sql.topic_records import TopicRecords
from klda.store.sql.volume_records import Volume


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Records:
    """The records of one monitor.

    address: a path for SQLite, an address such as `postgresql://user@host/name`, or a database that is open already.
    clock: tells the time that new rows carry; a replayed past has its own.

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
        """Deletes all that is recorded of this monitor, in one step, but for the audit log, which only grows."""

        def work(connection: Connection) -> None:
            for table in reversed(metadata.sorted_tables):  # those that refer to others first
                if "monitor" in table.c and table is not audit:
                    connection.execute(delete(table).where(table.c.monitor == self.monitor))

        self.database.write(work)

    def close(self) -> None:
        """Gives all connections back."""
        self.database.close()
