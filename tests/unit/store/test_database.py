from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, insert, inspect, select

from klda.errors import FormatError, SettingError, StoreError
from klda.store.sql import sql_tables
from klda.store.sql.database import Database, _prepare_sqlite
from klda.store.sql.records import Records
from klda.store.sql.sql_tables import MIGRATIONS, migrate, version
from tests.unit.store.conftest import MONDAY


def test_migrations_make_the_tables_that_the_program_knows(address: str) -> None:
    database = Database(address)

    def found(connection: Connection) -> dict[str, dict[str, bool]]:
        here = inspect(connection)
        return {
            name: {str(column["name"]): bool(column["nullable"]) for column in here.get_columns(name)}
            for name in here.get_table_names()
            if name != "klda_version"
        }

    def keys(connection: Connection) -> dict[str, list[str]]:
        here = inspect(connection)
        return {name: here.get_pk_constraint(name)["constrained_columns"] for name in sql_tables.metadata.tables}

    def indexes(connection: Connection) -> set[tuple[str, ...]]:
        here = inspect(connection)
        return {
            (name, *map(str, index["column_names"]))
            for name in sql_tables.metadata.tables
            for index in here.get_indexes(name)
            if not index["unique"]
        }

    made = sql_tables.metadata.tables
    nullable = {name: {c.name: bool(c.nullable) for c in table.c} for name, table in made.items()}
    if database.dialect == "sqlite":  # reports the key of a table as nullable where it is not an integer
        for table in made.values():
            for column in table.primary_key:
                if len(table.primary_key) == 1 and column.name == "id":
                    nullable[table.name][column.name] = True
    assert database.read(found) == nullable
    assert database.read(keys) == {name: [c.name for c in table.primary_key] for name, table in made.items()}
    assert database.read(indexes) == {
        (table.name, *(c.name for c in index.columns)) for table in made.values() for index in table.indexes
    }
    database.close()


def test_a_database_of_the_first_version_is_brought_forward_with_its_data(address: str) -> None:
    url = address.replace("postgresql://", "postgresql+psycopg://") if "://" in address else f"sqlite:///{address}"
    engine = create_engine(url)
    with engine.begin() as connection:
        migrate(connection, address, target=1)
        assert version(connection) == 1
        assert not inspect(connection).has_table("volume")
        row = {"monitor": "health", "source": "stream", "started": MONDAY, "ended": MONDAY, "reason": "asleep"}
        connection.execute(insert(sql_tables.gaps).values(row))
    engine.dispose()
    records = Records(address, "health")
    assert records.database.read(version) == len(MIGRATIONS)
    assert [gap.reason for gap in records.journal.gaps()] == ["asleep"]
    assert records.volume.total() == 0
    records.close()


def test_opening_again_changes_nothing(address: str) -> None:
    for _ in range(2):
        database = Database(address)
        assert database.read(version) == len(MIGRATIONS)
        database.close()


def test_a_database_of_a_newer_program_is_refused(address: str) -> None:
    database = Database(address)
    database.write(lambda c: c.exec_driver_sql("UPDATE klda_version SET version = 99"))
    database.close()
    with pytest.raises(FormatError, match="version 99, and this klda knows"):
        Database(address)


def test_those_who_start_together_migrate_once(address: str) -> None:
    barrier = Barrier(4)

    def start(_: int) -> int:
        barrier.wait()
        database = Database(address)
        found = database.read(version)
        database.close()
        return found

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(4))) == [len(MIGRATIONS)] * 4


def test_a_file_that_others_open_in_the_same_moment_is_tried_again(tmp_path: Path) -> None:
    class Refused(sqlite3.Connection):
        times = 0

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            if "journal_mode" in sql and self.times < 2:
                self.times += 1
                raise sqlite3.OperationalError("database is locked")
            return super().execute(sql, parameters)

    connection = sqlite3.connect(tmp_path / "state.db", factory=Refused)
    _prepare_sqlite(connection, None)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_readers_see_whole_transactions_while_one_writes(address: str) -> None:
    writer, reader = Records(address, "health"), Records(address, "health")

    def write_and_look(connection: Connection) -> int:
        connection.execute(
            insert(sql_tables.gaps).values(monitor="health", source="s", started=MONDAY, ended=MONDAY, reason="")
        )
        return len(reader.journal.gaps())

    assert writer.database.write(write_and_look) == 0
    assert len(reader.journal.gaps()) == 1
    writer.close()
    reader.close()


def test_a_failed_transaction_leaves_nothing(address: str) -> None:
    database = Database(address)

    def work(connection: Connection) -> None:
        connection.execute(insert(sql_tables.folded).values(monitor="a", version=1))
        connection.execute(insert(sql_tables.folded).values(monitor="a", version=2))

    with pytest.raises(StoreError, match="the database does not answer or refuses"):
        database.write(work)
    assert database.read(lambda c: c.execute(select(sql_tables.folded)).all()) == []
    database.close()


def test_sqlite_runs_in_wal_mode(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    assert database.read(lambda c: c.exec_driver_sql("PRAGMA journal_mode").scalar_one()) == "wal"
    database.close()


def test_addresses_that_lead_nowhere_are_clear_errors_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere/state\.db"):
        Database(tmp_path / "nowhere" / "state.db")
    with pytest.raises(SettingError, match="'mysql' is not known"):
        Database("mysql://somewhere/db")
    with pytest.raises(StoreError) as caught:
        Database(f"postgresql://ann:hunter2@/db?host={tmp_path}")
    assert "hunter2" not in str(caught.value)


def test_the_stamp_changes_with_every_commit_of_anybody_and_with_nothing_else(address: str) -> None:
    database, other = Database(address), Database(address)
    try:
        first = database.stamp()
        database.read(version)
        assert database.stamp() == first
        stamps = {first}
        for writer in (other, database):
            Records(writer, "health").journal.note("ann", "note")
            stamps.add(database.stamp())
        assert len(stamps) == 3
    finally:
        database.close()
        other.close()
