"""The tables of the SQL database, and the migrations from earlier versions to these tables.

Several monitors may share a database, so every row names its monitor. The program makes ids, not the database. So a
transaction can be repeated when its outcome is unknown, without doing anything twice.

A migration is a list of statements for SQLite and PostgreSQL. It is never changed after its release: a change of the
tables needs a new migration at the end. All missing migrations run in one transaction under a lock, so that processes
that start together do not migrate twice.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Double,
    ForeignKey,
    Index,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    inspect,
)
from sqlalchemy.engine import Dialect

from klda.errors import FormatError


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC, with its zone also in databases that store no zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time as the database stores it."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time with its zone, UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def new_id() -> str:
    """A unique id: 64 random bits, short enough to type.

    >>> len(new_id())
    16
    """
    return secrets.token_hex(8)


metadata = MetaData()


def _id() -> Column[str]:
    return Column("id", Text, primary_key=True)


def _text(name: str, **options: Any) -> Column[str]:
    return Column(name, Text, **({"nullable": False} | options))


def _time(name: str, **options: Any) -> Column[datetime]:
    return Column(name, UtcTime, **({"nullable": False} | options))


def _json(name: str) -> Column[Any]:
    return Column(name, JSON, nullable=False)


proposals = Table(
    "proposals",
    metadata,
    _id(),
    _text("monitor"),
    _time("window_start", nullable=True),
    _time("made"),
    _text("policy"),
    _text("body"),
    _json("flags"),
    _text("state"),
    _text("model", nullable=True),
    Index("proposals_by_time", "monitor", "made"),
)

decisions = Table(
    "decisions",
    metadata,
    _id(),
    _text("monitor"),
    Column("proposal", Text, ForeignKey("proposals.id"), nullable=False, unique=True),
    _time("made"),
    _text("verdict"),
    _text("decided_by"),
    _text("note"),
    _json("keywords"),
)

keyword_spans = Table(
    "keyword_spans",
    metadata,
    _id(),
    _text("monitor"),
    _text("keyword"),
    _json("forms"),
    _time("started"),
    _text("reason"),
    _text("decided_by"),
    _text("proposal", nullable=True),
    Column("place", BigInteger, nullable=False),
    _time("ended", nullable=True),
    _text("end_reason", nullable=True),
    _text("ended_by", nullable=True),
    Index("keyword_spans_by_time", "monitor", "started"),
)

expectations = Table(
    "expectations",
    metadata,
    _text("monitor", primary_key=True),
    _time("window_start", primary_key=True),
    _text("keyword", primary_key=True),
    Column("mean", Double, nullable=False),
    Column("low", Double, nullable=False),
    Column("high", Double, nullable=False),
)

models = Table(
    "models",
    metadata,
    _id(),
    _text("monitor"),
    _time("window_start"),
    _time("made"),
    _text("path"),
    _json("facts"),
    Index("models_by_window", "monitor", "window_start"),
)

jobs = Table(
    "jobs",
    metadata,
    _id(),
    _text("monitor"),
    _text("kind"),
    _text("state"),
    _time("created"),
    _time("changed"),
    _text("stage"),
    Column("done", BigInteger, nullable=False),
    Column("total", BigInteger),
    _text("error", nullable=True),
    _json("result"),
    Column("cancelled", Boolean, nullable=False),
    Index("jobs_by_time", "monitor", "created"),
)

audit = Table(
    "audit",
    metadata,
    _id(),
    _text("monitor"),
    _time("at"),
    _text("who"),
    _text("action"),
    _text("subject"),
    _json("detail"),
    Index("audit_by_time", "monitor", "at"),
)

gaps = Table(
    "gaps",
    metadata,
    _text("monitor", primary_key=True),
    _text("source", primary_key=True),
    _time("started", primary_key=True),
    _time("ended"),
    _text("reason"),
)

volume = Table(
    "volume",
    metadata,
    _text("monitor", primary_key=True),
    Column("sample", Boolean, primary_key=True),
    _text("period", primary_key=True),
    _time("start", primary_key=True),
    _text("keyword", primary_key=True),
    Column("posts", BigInteger, nullable=False),
    Column("alone", BigInteger, nullable=False),
)

folded = Table(
    "folded",
    metadata,
    _text("monitor", primary_key=True),
    Column("version", BigInteger, nullable=False),
)

topics = Table(
    "topics",
    metadata,
    _text("monitor", primary_key=True),
    _time("window_start", primary_key=True),
    _time("made"),
    _text("body"),
)

deletions = Table(
    "deletions",
    metadata,
    _text("monitor", primary_key=True),
    _text("source", primary_key=True),
    _text("post", primary_key=True),
    _time("noted"),
    Column("edited", Boolean, nullable=False),
    Column("author", Boolean, nullable=False),
)


_TIME = "TIMESTAMP WITH TIME ZONE"

_RECORDS = (
    f"""CREATE TABLE proposals (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, window_start {_TIME}, made {_TIME} NOT NULL, policy TEXT NOT NULL,
        body TEXT NOT NULL, flags JSON NOT NULL, state TEXT NOT NULL, model TEXT)""",
    "CREATE INDEX proposals_by_time ON proposals (monitor, made)",
    f"""CREATE TABLE decisions (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, proposal TEXT NOT NULL UNIQUE REFERENCES proposals (id),
        made {_TIME} NOT NULL, verdict TEXT NOT NULL, decided_by TEXT NOT NULL, note TEXT NOT NULL,
        keywords JSON NOT NULL)""",
    f"""CREATE TABLE keyword_spans (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, keyword TEXT NOT NULL, forms JSON NOT NULL,
        started {_TIME} NOT NULL, reason TEXT NOT NULL, decided_by TEXT NOT NULL, proposal TEXT, place BIGINT NOT NULL,
        ended {_TIME}, end_reason TEXT, ended_by TEXT)""",
    "CREATE INDEX keyword_spans_by_time ON keyword_spans (monitor, started)",
    f"""CREATE TABLE expectations (
        monitor TEXT NOT NULL, window_start {_TIME} NOT NULL, keyword TEXT NOT NULL,
        mean DOUBLE PRECISION NOT NULL, low DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (monitor, window_start, keyword))""",
    f"""CREATE TABLE models (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, window_start {_TIME} NOT NULL, made {_TIME} NOT NULL,
        path TEXT NOT NULL, facts JSON NOT NULL)""",
    "CREATE INDEX models_by_window ON models (monitor, window_start)",
    f"""CREATE TABLE jobs (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, created {_TIME} NOT NULL,
        changed {_TIME} NOT NULL, stage TEXT NOT NULL, done BIGINT NOT NULL, total BIGINT, error TEXT,
        result JSON NOT NULL, cancelled BOOLEAN NOT NULL)""",
    "CREATE INDEX jobs_by_time ON jobs (monitor, created)",
    f"""CREATE TABLE audit (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, at {_TIME} NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
        subject TEXT NOT NULL, detail JSON NOT NULL)""",
    "CREATE INDEX audit_by_time ON audit (monitor, at)",
    f"""CREATE TABLE gaps (
        monitor TEXT NOT NULL, source TEXT NOT NULL, started {_TIME} NOT NULL, ended {_TIME} NOT NULL,
        reason TEXT NOT NULL, PRIMARY KEY (monitor, source, started))""",
)

_VOLUME = (
    f"""CREATE TABLE volume (
        monitor TEXT NOT NULL, sample BOOLEAN NOT NULL, period TEXT NOT NULL, start {_TIME} NOT NULL,
        keyword TEXT NOT NULL, posts BIGINT NOT NULL, alone BIGINT NOT NULL,
        PRIMARY KEY (monitor, sample, period, start, keyword))""",
    "CREATE TABLE folded (monitor TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)",
    f"""CREATE TABLE deletions (
        monitor TEXT NOT NULL, source TEXT NOT NULL, post TEXT NOT NULL, noted {_TIME} NOT NULL,
        PRIMARY KEY (monitor, source, post))""",
)

_TOPICS = (
    f"""CREATE TABLE topics (
        monitor TEXT NOT NULL, window_start {_TIME} NOT NULL, made {_TIME} NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (monitor, window_start))""",
)

_EDITS = ("ALTER TABLE deletions ADD COLUMN edited BOOLEAN NOT NULL DEFAULT FALSE",)

_AUTHORS = ("ALTER TABLE deletions ADD COLUMN author BOOLEAN NOT NULL DEFAULT FALSE",)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_RECORDS, _VOLUME, _TOPICS, _EDITS, _AUTHORS)

_APPEND_ONLY = {
    "sqlite": (
        "CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
        "CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$",
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()",
    ),
}
"""Part of the first migration; the statements differ between databases."""


def migrate(connection: Connection, name: str, target: int = len(MIGRATIONS)) -> int:
    """The version of the database before; it is migrated to the target version, within the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7234001)")  # any fixed number
    had = version(connection)
    if had > len(MIGRATIONS):
        raise FormatError(f"{name}: version {had}, and this klda knows {len(MIGRATIONS)} at most; update klda")
    if had == 0:
        connection.exec_driver_sql("CREATE TABLE klda_version (version INTEGER NOT NULL)")
        connection.exec_driver_sql("INSERT INTO klda_version VALUES (0)")
    for number in range(had, target):
        own = _APPEND_ONLY[connection.dialect.name] if number == 0 else ()
        for statement in (*MIGRATIONS[number], *own):
            connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"UPDATE klda_version SET version = {max(had, target)}")  # noqa: S608 (a number)
    return had


def version(connection: Connection) -> int:
    """The version of the database; 0 for an empty one."""
    if not inspect(connection).has_table("klda_version"):
        return 0
    return int(connection.exec_driver_sql("SELECT version FROM klda_version").scalar_one())
