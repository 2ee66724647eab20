"""The journal of a monitor: its audit log, gaps of sources, trained models, and jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, delete, select, update

from klda.errors import DataError
from klda.store.sql import sql_tables
from klda.store.sql.database import Database, upsert
from klda.store.sql.sql_tables import new_id


@dataclass(frozen=True)
class AuditEntry:
    """An entry of the audit log: the time, the person, the action and its subject."""

    at: datetime
    who: str
    action: str
    subject: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedGap:
    """A period in which a source delivered nothing and which cannot be read again."""

    source: str
    start: datetime
    end: datetime
    reason: str = ""


@dataclass(frozen=True)
class TrainedModel:
    """A trained model: its path, and the last window of its training."""

    id: str
    window_start: datetime
    made: datetime
    path: str
    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data, with times in ISO 8601."""
        times = {"window": self.window_start.isoformat(), "made": self.made.isoformat()}
        return {"id": self.id, **times, "path": self.path, **self.facts}


@dataclass(frozen=True)
class Journal:
    """The journal of one monitor. Entries of its audit log cannot be changed or removed."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def note(self, who: str, action: str, subject: str = "", **detail: Any) -> None:
        """Adds an entry to the audit log."""
        name, at = new_id(), self.clock()
        self.database.write(lambda c: self.note_within(c, name, AuditEntry(at, who, action, subject, detail)))

    def note_within(self, connection: Connection, name: str, entry: AuditEntry) -> None:
        """Adds an entry within a transaction; because of its id, the transaction may run twice."""
        row = {"id": name, "monitor": self.monitor, "at": entry.at, "who": entry.who, "action": entry.action}
        upsert(connection, sql_tables.audit, [row | {"subject": entry.subject, "detail": dict(entry.detail)}])

    def entries(self, limit: int = 200, *, action: str | None = None) -> list[AuditEntry]:
        """The newest entries of the audit log, newest first; of all actions or of one."""
        t = sql_tables.audit
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
        """Records a gap; it replaces a gap with the same start, so that a gap can grow."""
        row = {"monitor": self.monitor, "source": gap.source, "started": gap.start, "ended": gap.end}
        rows = [row | {"reason": gap.reason}]
        self.database.write(lambda c: upsert(c, sql_tables.gaps, rows, replace=["ended", "reason"]))

    def gaps(self, since: datetime | None = None) -> list[RecordedGap]:
        """The gaps of all sources, in order, without those that ended before `since`."""
        t = sql_tables.gaps
        query = select(t.c.source, t.c.started, t.c.ended, t.c.reason).where(t.c.monitor == self.monitor)
        if since is not None:
            query = query.where(t.c.ended >= since)
        return self.database.read(
            lambda c: [RecordedGap(*row) for row in c.execute(query.order_by(t.c.started, t.c.source))]
        )

    def add_model(self, window_start: datetime, path: str, **facts: Any) -> str:
        """The id of a trained model, which is recorded."""
        name = new_id()
        row = {"id": name, "monitor": self.monitor, "window_start": window_start, "made": self.clock()}
        self.database.write(lambda c: upsert(c, sql_tables.models, [row | {"path": path, "facts": facts}]))
        return name

    def remove_model(self, name: str) -> None:
        """Removes a model from the records; proposals made with it still name it."""
        t = sql_tables.models
        chosen = (t.c.monitor == self.monitor) & (t.c.id == name)
        self.database.write(lambda c: c.execute(delete(t).where(chosen)))

    def models(self, limit: int = 100) -> list[TrainedModel]:
        """The newest models, newest first."""
        t = sql_tables.models
        query = (
            select(t.c.id, t.c.window_start, t.c.made, t.c.path, t.c.facts)
            .where(t.c.monitor == self.monitor)
            .order_by(t.c.made.desc(), t.c.id)
            .limit(limit)
        )
        return self.database.read(lambda c: [TrainedModel(*row) for row in c.execute(query)])


JobState = Literal["waiting", "running", "done", "failed", "cancelled"]

OPEN = ("waiting", "running")
"""The states of a job that has not ended."""


@dataclass(frozen=True)
class Job:
    """A job and its current state."""

    id: str
    kind: str
    state: JobState
    created: datetime
    changed: datetime
    stage: str
    done: int
    total: int | None
    error: str | None
    result: Mapping[str, Any]
    """The result; under `request`, the request."""
    cancelled: bool
    """Whether somebody asked it to stop; the job ends itself."""


@dataclass(frozen=True)
class Jobs:
    """The jobs of one monitor."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def add(self, kind: str, **request: Any) -> str:
        """The id of a new job, which is recorded as waiting, with its request."""
        name, now = new_id(), self.clock()
        row = {"id": name, "monitor": self.monitor, "kind": kind, "state": "waiting", "created": now, "changed": now}
        row |= {"stage": "", "done": 0, "total": None, "error": None, "cancelled": False}
        row["result"] = {"request": request} if request else {}
        self.database.write(lambda c: upsert(c, sql_tables.jobs, [row]))
        return name

    def report(self, name: str, stage: str, done: int, total: int | None = None) -> bool:
        """Whether a job should continue; its progress is recorded, and it is marked as running."""
        self._change(name, state="running", stage=stage, done=done, total=total)
        return not self.get(name).cancelled

    def finish(self, name: str, *, error: str | None = None, **result: Any) -> None:
        """Ends a job as cancelled if it was asked to stop, as failed with an error, otherwise as done."""
        job = self.get(name)
        state = "cancelled" if job.cancelled else "done" if error is None else "failed"
        asked = {"request": job.result["request"]} if "request" in job.result else {}
        self._change(name, state=state, error=error, result=asked | result)

    def cancel(self, name: str) -> None:
        """Asks a job to stop; a job that has ended does not change."""
        self._change(name, cancelled=True)

    def abandon(self, silent_for: timedelta) -> int:
        """How many jobs were marked as failed because they have not reported for this time: their process has died."""
        t, now = sql_tables.jobs, self.clock()
        lost = (t.c.monitor == self.monitor) & t.c.state.in_(OPEN) & (t.c.changed < now - silent_for)
        values = {"state": "failed", "error": "its process died; start it again", "changed": now}
        return self.database.write(lambda c: c.execute(update(t).where(lost).values(**values)).rowcount)

    def get(self, name: str) -> Job:
        """The job with this id."""
        found = self._read(sql_tables.jobs.c.id == name, 1)
        if not found:
            raise DataError(f"monitor {self.monitor} has no job {name!r}; check the id")
        return found[0]

    def newest(self, limit: int = 100) -> list[Job]:
        """The newest jobs, newest first."""
        return self._read(sql_tables.jobs.c.monitor == self.monitor, limit)

    def _change(self, name: str, **values: Any) -> None:
        """Changes a job, unless it has ended."""
        t = sql_tables.jobs
        mine = (t.c.id == name) & (t.c.monitor == self.monitor) & t.c.state.in_(OPEN)
        now = self.clock()
        self.database.write(lambda c: c.execute(update(t).where(mine).values(changed=now, **values)))

    def _read(self, chosen: Any, limit: int) -> list[Job]:
        t = sql_tables.jobs
        columns = [column for column in t.c if column.name != "monitor"]
        query = select(*columns).where(chosen, t.c.monitor == self.monitor).order_by(t.c.created.desc(), t.c.id)
        return self.database.read(lambda c: [Job(**row) for row in c.execute(query.limit(limit)).mappings()])
