"""Tables with nested columns, such as frames of X's API v2: what lies inside gets a column with a dotted name."""

from __future__ import annotations

import pyarrow as pa

REFERENCES = "referenced_tweets"
REPOSTED = "referenced_tweets.retweeted.id"
"""The column of that name in twarc's tables; in nested ones it is an entry of the list of references."""


def flat(table: pa.Table) -> pa.Table:
    """The table with a column for each field of its nested columns; a column that is there already stays.

    >>> flat(pa.table({"public_metrics": [{"retweet_count": 3}]})).column_names
    ['public_metrics.retweet_count']
    """
    while any(pa.types.is_struct(field.type) for field in table.schema):
        nested = [
            name for name, field in zip(table.column_names, table.schema, strict=True) if pa.types.is_struct(field.type)
        ]
        inside = table.select(nested).flatten()
        table = table.drop_columns(nested)
        for name, column in zip(inside.column_names, inside.columns, strict=True):
            if name not in table.column_names:
                table = table.append_column(name, column)
    if REFERENCES in table.column_names and REPOSTED not in table.column_names:
        column = table.column(REFERENCES)
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            table = table.append_column(REPOSTED, pa.array(map(_reposted, column.to_pylist()), type=pa.string()))
    return table


def flat_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same for a batch of rows."""
    table = flat(pa.Table.from_batches([batch])).combine_chunks()
    columns = [column.chunk(0) if column.num_chunks else pa.array([], type=column.type) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _reposted(references: object) -> str | None:
    """The id of the post that is passed on, from the references of one that does so."""
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict) and reference.get("type") == "retweeted":
            return str(reference.get("id") or "") or None
    return None
