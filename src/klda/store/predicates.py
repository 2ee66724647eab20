"""Conditions on rows in Delta's own SQL, by which it deletes."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa


def one_of(expression: str, values: Iterable[str]) -> str:
    """That an expression has one of these values.

    >>> one_of("author", ["ann", "o'neill"])
    "author IN ('ann', 'o''neill')"
    """
    quoted = ("'" + value.replace("'", "''") + "'" for value in values)
    return f"{expression} IN ({', '.join(quoted)})"


def these(rows: pa.Table) -> str:
    """That it is one of these rows, told by their ids and batches; windows and sources say which files to look at."""
    wanted = {name: rows.column(name).unique().to_pylist() for name in ("window", "source")}
    named = zip(rows.column("id").to_pylist(), rows.column("batch").to_pylist(), strict=True)
    wanted["concat(id, ' ', batch)"] = [f"{name} {batch}" for name, batch in dict.fromkeys(named)]
    return " AND ".join(one_of(name, values) for name, values in wanted.items())
