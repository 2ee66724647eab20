"""What happened to a monitor: the audit log, gaps in what a source delivered, and the models that were trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from klda.store.sql import tables
from klda.store.sql.database import Database, upsert
from klda.store.sql.tables import new_id


@dataclass(frozen=True)
class AuditEntry:
    """Who did what, to what, and when."""

    at: datetime
    who: str
    action: str
    subject: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedGap:
    """A stretch of time in which a source delivered nothing and cannot be asked again."""

    source: str
    start: datetime
    end: datetime
    reason: str = ""


@dataclass(frozen=True)
class TrainedModel:
    """Where a model lies, and the last window that it has seen."""

    id: str
    window_start: datetime
    made: datetime
    path: str
    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain data; times in ISO 8601."""
        times = {"window": self.window_start.isoformat(), "made": self.made.isoformat()}
        return {"id": self.id, **times, "path": self.path, **self.facts}


@dataclass(frozen=True)
class Journal:
    """The journal of one monitor; nothing in its audit log can be changed or removed."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def note(self, who: str, action: str, subject: str = "", **detail: Any) -> None:
        """Adds an entry to the audit log."""
        name, at = new_id(), self.clock()
        self.database.write(lambda c: self.note_within(c, name, AuditEntry(at, who, action, subject, detail)))

    def note_within(self, connection: Connection, name: str, entry: AuditEntry) -> None:
        """Adds an entry as part of a transaction; the id makes a second run of it harmless."""
        row = {"id": name, "monitor": self.monitor, "at": entry.at, "who": entry.who, "action": entry.action}
        upsert(connection, tables.audit, [row | {"subject": entry.subject, "detail": dict(entry.detail)}])

    def entries(self, limit: int = 200, *, action: str | None = None) -> list[AuditEntry]:
        """The newest entries of the audit log, newest first; all, or those of one action."""
        t = tables.audit
        query = (
            select(t.c.at, t.c.who, t.c.action, t.c.subject, t.c.detail)
            .where(t.c.monitor == self.monitor)
            .order_by(t.c.at.desc(), t.c.id)
            .limit(limit)
        )
        if action is not None:
            query = query.where(t.c.action == action)
        return self.database.read(lambda c: [AuditEntry(*row) for row in c.execute(query)])

    def add_gap(self, gap: RecordedGap) -> None:
        """Records a gap; one that starts at the same time is replaced, so that a gap may grow."""
        row = {"monitor": self.monitor, "source": gap.source, "started": gap.start, "ended": gap.end}
        rows = [row | {"reason": gap.reason}]
        self.database.write(lambda c: upsert(c, tables.gaps, rows, replace=["ended", "reason"]))

    def gaps(self, since: datetime | None = None) -> list[RecordedGap]:
        """The gaps of all sources, in order; those that ended before `since` are left out."""
        t = tables.gaps
        query = select(t.c.source, t.c.started, t.c.ended, t.c.reason).where(t.c.monitor == self.monitor)
        if since is not None:
            query = query.where(t.c.ended >= since)
        return self.database.read(
            lambda c: [RecordedGap(*row) for row in c.execute(query.order_by(t.c.started, t.c.source))]
        )

    def add_model(self, window_start: datetime, path: str, **facts: Any) -> str:
        """Records a trained model, and returns its id."""
        name = new_id()
        row = {"id": name, "monitor": self.monitor, "window_start": window_start, "made": self.clock()}
        self.database.write(lambda c: upsert(c, tables.models, [row | {"path": path, "facts": facts}]))
        return name

    def remove_model(self, name: str) -> None:
        """Takes a model out of the records; proposals that were made with it go on naming it."""
        t = tables.models
        chosen = (t.c.monitor == self.monitor) & (t.c.id == name)
        self.database.write(lambda c: c.execute(delete(t).where(chosen)))

    def models(self, limit: int = 100) -> list[TrainedModel]:
        """The newest models, newest first."""
        t = tables.models
        query = (
            select(t.c.id, t.c.window_start, t.c.made, t.c.path, t.c.facts)
            .where(t.c.monitor == self.monitor)
            .order_by(t.c.made.desc(), t.c.id)
            .limit(limit)
        )
        return self.database.read(lambda c: [TrainedModel(*row) for row in c.execute(query)])
