"""Long work: what runs, how far it is, what failed and why, and what somebody wants to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import select, update

from klda.errors import DataError
from klda.store.sql import tables
from klda.store.sql.database import Database, upsert
from klda.store.sql.tables import new_id

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]

OPEN = ("waiting", "running")
"""States in which a job has not ended."""


@dataclass(frozen=True)
class Job:
    """A piece of work as it stands."""

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
    """What came out of it, and under `request` what was asked for."""
    cancelled: bool
    """Whether somebody asked for it to stop; the work itself ends it."""


@dataclass(frozen=True)
class Jobs:
    """The jobs of one monitor."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def add(self, kind: str, **request: Any) -> str:
        """Records a job that waits to be run, with what is asked of it, and returns its id."""
        name, now = new_id(), self.clock()
        row = {"id": name, "monitor": self.monitor, "kind": kind, "state": "waiting", "created": now, "changed": now}
        row |= {"stage": "", "done": 0, "total": None, "error": None, "cancelled": False}
        row["result"] = {"request": request} if request else {}
        self.database.write(lambda c: upsert(c, tables.jobs, [row]))
        return name

    def report(self, name: str, stage: str, done: int, total: int | None = None) -> bool:
        """Records how far a job is, which also marks it as running; returns whether it should go on."""
        self._change(name, state="running", stage=stage, done=done, total=total)
        return not self.get(name).cancelled

    def finish(self, name: str, *, error: str | None = None, **result: Any) -> None:
        """Ends a job: with an error it failed, after a request to stop it is cancelled, otherwise it is done."""
        job = self.get(name)
        state = "cancelled" if job.cancelled else "done" if error is None else "failed"
        asked = {"request": job.result["request"]} if "request" in job.result else {}
        self._change(name, state=state, error=error, result=asked | result)

    def cancel(self, name: str) -> None:
        """Asks a job to stop; one that has ended stays as it is."""
        self._change(name, cancelled=True)

    def abandon(self, silent_for: timedelta) -> int:
        """Marks jobs as failed that have not reported for so long, since their process must have died; how many."""
        t, now = tables.jobs, self.clock()
        lost = (t.c.monitor == self.monitor) & t.c.state.in_(OPEN) & (t.c.changed < now - silent_for)
        values = {"state": "failed", "error": "its process died; start it again", "changed": now}
        return self.database.write(lambda c: c.execute(update(t).where(lost).values(**values)).rowcount)

    def get(self, name: str) -> Job:
        """The job with this id."""
        found = self._read(tables.jobs.c.id == name, 1)
        if not found:
            raise DataError(f"job {name!r} is not known to monitor {self.monitor}")
        return found[0]

    def newest(self, limit: int = 100) -> list[Job]:
        """The newest jobs, newest first."""
        return self._read(tables.jobs.c.monitor == self.monitor, limit)

    def _change(self, name: str, **values: Any) -> None:
        """Changes a job that has not ended."""
        t = tables.jobs
        mine = (t.c.id == name) & (t.c.monitor == self.monitor) & t.c.state.in_(OPEN)
        now = self.clock()
        self.database.write(lambda c: c.execute(update(t).where(mine).values(changed=now, **values)))

    def _read(self, chosen: Any, limit: int) -> list[Job]:
        t = tables.jobs
        columns = [column for column in t.c if column.name != "monitor"]
        query = select(*columns).where(chosen, t.c.monitor == self.monitor).order_by(t.c.created.desc(), t.c.id)
        return self.database.read(lambda c: [Job(**row) for row in c.execute(query.limit(limit)).mappings()])
