"""What each commit of the table of posts says besides its rows: where every source stands, and how the counts change.

Delta keeps, for each source, the number of its last batch (an application transaction) for as long as the table
lives. The cursor that belongs to it lies in the commit's own note. Notes expire with the log, so every commit repeats
the cursors of all sources: the newest is enough, and older ones are read only when another tool committed last.
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
    """How far a source has been stored: its last batch, and the cursor from which to go on."""

    batch: int
    cursor: str


@dataclass(frozen=True)
class Change:
    """What a commit did to the counts."""

    version: int
    counts: list[Count] = field(default_factory=list)


def application(source: str) -> str:
    """The name under which Delta numbers the batches of a source."""
    return f"klda/{source}"


def properties(
    positions: Mapping[str, Position], counts: Iterable[Count] = (), source: str | None = None
) -> CommitProperties:
    """The properties of a commit; with `source`, it is the one that stores that source's newest batch."""
    note = {"positions": {name: [p.batch, p.cursor] for name, p in positions.items()}, "counts": packed(counts)}
    transactions = [] if source is None else [Transaction(application(source), positions[source].batch)]
    return CommitProperties(custom_metadata={_NOTE: note}, app_transactions=transactions)


def position(table: DeltaTable, source: str) -> Position | None:
    """Where a source stands, or None before its first batch."""
    batch = table.transaction_version(application(source))
    if batch is None:
        noted = next(_notes(table), {}).get("positions", {})
        cursors = [noted[name][1] for name in names(table, source) if name in noted]
        return Position(0, max(cursors)) if cursors else None  # its batches are counted anew
    for note in _notes(table):
        entry = note.get("positions", {}).get(source)
        if entry is not None and entry[0] == batch:  # a commit that raced with this batch may repeat an older one
            return Position(*entry)
    raise StoreError(
        f"{table.table_uri}: the cursor of batch {batch} of {source} is no longer in the log; "
        "restore the folder _delta_log from a backup"
    )


def names(table: DeltaTable, source: str) -> list[str]:
    """The names under which posts of a source lie: its own, and of Jetstream those that once named a server, too."""
    noted = next(_notes(table), {}).get("positions", {})
    return [source, *(name for name in noted if source == "jetstream" and name.startswith("jetstream "))]


def positions(table: DeltaTable) -> dict[str, Position]:
    """Where every source stands."""
    newest = next(_notes(table), {})
    found = {source: position(table, source) for source in newest.get("positions", {})}
    return {source: place for source, place in found.items() if place is not None}


def changes(table: DeltaTable, since: int) -> list[Change] | None:
    """What the commits after a version did to the counts, oldest first; None where the log no longer has them all."""
    wanted = table.version() - since
    if wanted <= 0:
        return []
    log = table.history(wanted)
    found = [Change(entry["version"], unpacked(entry.get(_NOTE, {}).get("counts", ()))) for entry in reversed(log)]
    return found if len(found) == wanted and found[0].version == since + 1 else None


def _notes(table: DeltaTable) -> Iterator[dict[str, Any]]:
    """The notes of commits, newest first; the newest alone is read before the rest."""
    seen = 0
    for limit in (1, 100, None):
        log = table.history(limit)
        yield from (entry[_NOTE] for entry in log[seen:] if _NOTE in entry)
        seen = len(log)


FILE_BYTES = 32 << 20
WRITER = WriterProperties(compression="ZSTD")
_CONFIGURATION = {
    # Only these columns leave their extremes in the log: it must not hold texts or names of deleted posts.
    "delta.dataSkippingStatsColumns": "time,batch",
    "delta.deletedFileRetentionDuration": "interval 1 days",
    # Deletions name ids. Delta drops log entries before a checkpoint of this age: with one a day, within seven days.
    "delta.logRetentionDuration": "interval 5 days",
    "delta.checkpointInterval": "20",
}


def open_table(uri: str, options: Mapping[str, str]) -> DeltaTable:
    """The table at an address, made where there is none."""
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
    """Facts about the files of a table, file by file."""
    found = pa.table(table.get_add_actions(flatten=True))
    if found.num_rows:
        yield from zip(*(found.column(name).to_pylist() for name in names), strict=True)
