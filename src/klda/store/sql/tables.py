"""The tables of the SQL database, as the newest migration leaves them.

Several monitors may share a database, so every row names its monitor. Ids are made by the program, not the database:
a transaction whose outcome is unknown can then be run again without doing anything twice.
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
    DateTime,
    Double,
    ForeignKey,
    Index,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.engine import Dialect


class UtcTime(TypeDecorator[datetime]):
    """A time that always has a zone, UTC, whatever the database makes of zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time as the database takes it."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time as the program knows it."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def new_id() -> str:
    """An id that no other row has: 64 random bits, short enough to type.

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
