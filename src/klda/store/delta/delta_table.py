"""The Delta table under the posts: how it is made and set up, and what its log says about its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, WriterProperties

from klda.store.delta import commits
from klda.store.delta.layout import PARTITIONS, ROW_SCHEMA

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
            commit_properties=commits.properties({}),
        )
    return DeltaTable(uri, storage_options=given)


def files(table: DeltaTable, *names: str) -> Iterator[tuple[Any, ...]]:
    """Facts about the files of a table, file by file."""
    found = pa.table(table.get_add_actions(flatten=True))
    if found.num_rows:
        yield from zip(*(found.column(name).to_pylist() for name in names), strict=True)
