"""The Delta table of posts: its settings, its files, and the notes in its log on cursors and counts.

Delta keeps the number of the last batch of each source (an application transaction) as long as the table exists. The
cursor of this batch is in a note of the commit. Notes expire with the log, so every commit repeats the cursors of all
sources. The newest note is enough; older notes are read only if another tool made the last commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, WriterProperties

from klda.errors import StoreError
from klda.store.delta.rows import PARTITIONS, ROW_SCHEMA, Count, packed, unpacked

_NOTE = "klda"


@dataclass(frozen=True)
class Position:
    """The last stored batch of a source, and the cursor from which to resume."""

    batch: int
    cursor: str


@dataclass(frozen=True)
class Change:
    """The changes of counts by one commit."""

    version: int
    counts: list[Count] = field(default_factory=list)


def application(source: str) -> str:
    """The name of the application transaction of a source."""
    return f"klda/{source}"


def properties(
    positions: Mapping[str, Position], counts: Iterable[Count] = (), source: str | None = None
) -> CommitProperties:
    """The properties of a commit; `source` is the source of the stored batch, if it stores one."""
    note = {"positions": {name: [p.batch, p.cursor] for name, p in positions.items()}, "counts": packed(counts)}
    transactions = [] if source is None else [Transaction(application(source), positions[source].batch)]
    return CommitProperties(custom_metadata={_NOTE: note}, app_transactions=transactions)


def position(table: DeltaTable, source: str) -> Position | None:
    """The position of a source; None before its first batch."""
    batch = table.transaction_version(application(source))
    if batch is None:
        noted = next(_notes(table), {}).get("positions", {})
        cursors = [noted[name][1] for name in names(table, source) if name in noted]
        return Position(0, max(cursors)) if cursors else None  # the numbers of its batches start again
    for note in _notes(table):
        entry = note.get("positions", {}).get(source)
        if entry is not None and entry[0] == batch:  # a concurrent commit may repeat an older position
            return Position(*entry)
    raise StoreError(
        f"{table.table_uri}: the cursor of batch {batch} of {source} is no longer in the log; "
        "restore the folder _delta_log from a backup"
    )


def names(table: DeltaTable, source: str) -> list[str]:
    """The names of a source in the table: its own, and for Jetstream the old names with a server."""
    noted = next(_notes(table), {}).get("positions", {})
    return [source, *(name for name in noted if source == "jetstream" and name.startswith("jetstream "))]


def positions(table: DeltaTable) -> dict[str, Position]:
    """The position of every source."""
    newest = next(_notes(table), {})
    found = {source: position(table, source) for source in newest.get("positions", {})}
    return {source: place for source, place in found.items() if place is not None}


def changes(table: DeltaTable, since: int) -> list[Change] | None:
    """The changes of counts by the commits after a version, oldest first; None if some of them have expired."""
    wanted = table.version() - since
    if wanted <= 0:
        return []
    log = table.history(wanted)
    found = [Change(entry["version"], unpacked(entry.get(_NOTE, {}).get("counts", ()))) for entry in reversed(log)]
    return found if len(found) == wanted and found[0].version == since + 1 else None


def _notes(table: DeltaTable) -> Iterator[dict[str, Any]]:
    """The notes of commits, newest first; the newest one is read alone, before the rest."""
    seen = 0
    for limit in (1, 100, None):
        log = table.history(limit)
        yield from (entry[_NOTE] for entry in log[seen:] if _NOTE in entry)
        seen = len(log)


FILE_BYTES = 32 << 20
WRITER = WriterProperties(compression="ZSTD")
_CONFIGURATION = {
    # The log keeps the minimum and maximum of these columns only: it must not hold texts or names of deleted posts.
    "delta.dataSkippingStatsColumns": "time,batch",
    "delta.deletedFileRetentionDuration": "interval 1 days",
    # Deletions name ids. Delta drops the log before a checkpoint of this age: within seven days, with one a day.
    "delta.logRetentionDuration": "interval 5 days",
    "delta.checkpointInterval": "20",
}


def open_table(uri: str, options: Mapping[str, str]) -> DeltaTable:
    """The table at an address; it is created if there is none."""
    given = dict(options)
    if not DeltaTable.is_deltatable(uri, given):
        DeltaTable.create(
            uri,
            ROW_SCHEMA,
            mode="ignore",
            partition_by=list(PARTITIONS),
            configuration=_CONFIGURATION,
            storage_options=given,
            commit_properties=properties({}),
        )
    return DeltaTable(uri, storage_options=given)


def files(table: DeltaTable, *names: str) -> Iterator[tuple[Any, ...]]:
    """The given facts about each file of a table."""
    found = pa.table(table.get_add_actions(flatten=True))
    if found.num_rows:
        yield from zip(*(found.column(name).to_pylist() for name in names), strict=True)
