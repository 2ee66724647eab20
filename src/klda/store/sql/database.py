"""The SQL database: a SQLite file, or PostgreSQL by its address.

In both, several processes may read while one writes: SQLite runs in WAL mode, and writers of PostgreSQL take a lock. If
PostgreSQL restarts, the program waits and runs the transaction again. Every transaction here may run twice, because its
second run finds the rows of the first.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import stamina
from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection

from klda.errors import FormatError, SettingError, StoreError
from klda.extras import require
from klda.store.sql.sql_tables import migrate

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds to wait for a PostgreSQL server that does not answer."""
_BUSY_MILLISECONDS = 30_000
_WRITING = 0x6B6C6461  # number of the lock for writers of PostgreSQL; any number that other programs do not use


class Database:
    """A database with the tables of the newest version.

    address: a path for SQLite, or an address such as `postgresql://user@host/name`.

    >>> import tempfile
    >>> from klda.store.sql.sql_tables import version
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Database(Path(folder) / "state.db").read(version)
    5
    """

    def __init__(self, address: str | Path, *, patience: float = PATIENCE) -> None:
        url = _url(address)
        self.name = url.render_as_string(hide_password=True)
        self._patience = patience
        self._engine = _engine(url)
        self._watching: PoolProxiedConnection | None = None
        self._lock = Lock()
        try:
            self._once(lambda connection: migrate(connection, self.name), immediate=True)
        except FormatError:
            self.close()
            raise
        except SQLAlchemyError as error:
            self.close()
            raise self._failure(error) from error

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    def read(self, work: Callable[[Connection], T]) -> T:
        """The result of `work`, from one consistent view of the database."""
        return self._patiently(work, immediate=False)

    def write(self, work: Callable[[Connection], T]) -> T:
        """The result of `work`, after the commit. `work` may run twice; the second run must find the first rows."""
        return self._patiently(work, immediate=True)

    def stamp(self) -> str:
        """A text that changes when any process commits a change; much cheaper than reading the database.

        Compare only stamps from the same object.
        """
        if self.dialect == "postgresql":
            return self.read(lambda c: str(c.exec_driver_sql("SELECT pg_current_snapshot()").scalar()))
        try:
            with self._lock:  # SQLite reports to a connection the commits of all others, so this one never commits
                if self._watching is None:
                    self._watching = self._engine.raw_connection()
                    self._watching.detach()
                cursor = self._watching.cursor()
                cursor.execute("PRAGMA data_version")
                return str(cursor.fetchone())
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise self._failure(error) from error

    def settle(self) -> None:
        """Moves the log of SQLite into its file, so that the log holds no deleted data."""
        if self.dialect == "sqlite":
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            if self._watching is not None:
                self._watching.close()
                self._watching = None
        self._engine.dispose()

    def _patiently(self, work: Callable[[Connection], T], *, immediate: bool) -> T:
        try:
            if self.dialect == "sqlite":  # a file is always available
                return self._once(work, immediate=immediate)
            for attempt in stamina.retry_context(
                on=self._went_away, attempts=None, timeout=self._patience, wait_initial=0.1, wait_max=2.0
            ):
                with attempt:
                    return self._once(work, immediate=immediate)
        except SQLAlchemyError as error:
            raise self._failure(error) from error
        raise AssertionError("the loop ends by returning or raising")

    def _once(self, work: Callable[[Connection], T], *, immediate: bool) -> T:
        with self._engine.connect() as connection:
            if self.dialect == "sqlite":
                connection = connection.execution_options(immediate=immediate)
            elif not immediate:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if immediate and self.dialect == "postgresql":
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITING})")
                return work(connection)

    def _went_away(self, error: Exception) -> bool:
        return isinstance(error, OperationalError | InterfaceError)

    def _failure(self, error: Exception) -> StoreError:
        reason = " ".join(str(getattr(error, "orig", None) or error).split())
        return StoreError(f"{self.name}: the database does not answer or refuses ({reason}); check it and start again")


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    add: Sequence[str] = (),
    replace: Sequence[str] = (),
) -> None:
    """Inserts rows. For an existing key, values are added to the columns `add` and replace the columns `replace`."""
    if not rows:
        return
    maker = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = maker(table)
    key = [column.name for column in table.primary_key]
    changes = {name: table.c[name] + statement.excluded[name] for name in add}
    changes |= {name: statement.excluded[name] for name in replace}
    if changes:
        connection.execute(statement.on_conflict_do_update(index_elements=key, set_=changes), list(rows))
    else:
        connection.execute(statement.on_conflict_do_nothing(index_elements=key), list(rows))


def _url(address: str | Path) -> URL:
    if isinstance(address, Path) or "://" not in address:
        return URL.create("sqlite", database=str(address))
    try:
        url = make_url(address)
    except ArgumentError as error:
        raise SettingError("the database address is not valid; write it like postgresql://user@host/name") from error
    kind = url.drivername.partition("+")[0]
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if kind == "sqlite":
        return url
    raise SettingError(f"a database of kind {kind!r} is not known; give a file, or postgresql://user@host/name")


def _engine(url: URL) -> Engine:
    if url.drivername == "sqlite":
        engine = create_engine(url)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    require("postgres", "a database of PostgreSQL")
    return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10, "application_name": "klda"})


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # `_begin_sqlite` starts transactions
    pragmas = (
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",  # deleted data leave no trace in free pages
    )
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")
    until = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while not _switched(connection, until):
        time.sleep(0.02)


def _switched(connection: sqlite3.Connection, until: float) -> bool:
    """Whether the file is in WAL mode now; SQLite refuses the change while another process starts a transaction."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) or time.monotonic() > until:
            raise
        return False
    return True


def _begin_sqlite(connection: Connection) -> None:
    """Takes the write lock at the start; otherwise another transaction could write between a read and a write."""
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")
