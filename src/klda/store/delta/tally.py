"""How many posts a batch brings: by window, hour and keyword. Pages show sums of these, and never scan posts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

TALLIED = ("time", "keywords", "sample", "window")
"""The columns that a tally is made from."""

ALL = ""
"""Stands for all keywords together: a post that carries three is counted once."""


class Count(NamedTuple):
    """Posts of one hour of one window that carry a keyword (or, for `ALL`, all of them)."""

    window: str
    sample: bool
    hour: int
    """Hours since 1970, UTC."""
    keyword: str
    posts: int
    alone: int
    """Those of them that carry no other keyword: what the list would lose without this one."""

    @property
    def start(self) -> datetime:
        """When the hour begins."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=self.hour)


def tally(rows: pa.Table | pa.RecordBatch) -> list[Count]:
    """The counts of some rows of the store, in a fixed order; the sample is counted as a whole.

    >>> day = datetime(2026, 1, 5, 10, tzinfo=UTC)
    >>> times, keywords = pa.array([day, day], pa.timestamp("us", "UTC")), [["mask", "drug"], ["drug"]]
    >>> columns = {"time": times, "keywords": keywords, "sample": [False] * 2, "window": ["2026-01-05T00:00:00Z"] * 2}
    >>> rows = pa.table(columns)
    >>> [(count.keyword, count.posts, count.alone) for count in tally(rows)]
    [('', 2, 0), ('drug', 2, 1), ('mask', 1, 0)]
    """
    table = rows.select(TALLIED)
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    frame = pl.DataFrame(table)
    place = ["window", "sample", "hour", "keyword"]
    posts = frame.select(
        "window",
        "sample",
        (pl.col("time").dt.epoch("us") // 3_600_000_000).cast(pl.Int64).alias("hour"),
        pl.col("keywords").list.unique().alias("keyword"),
        (pl.col("keywords").list.n_unique() == 1).cast(pl.Int64).alias("alone"),
    )
    everything = posts.with_columns(keyword=pl.lit(ALL), alone=pl.lit(0, pl.Int64))
    carried = posts.filter(pl.col("keyword").list.len() > 0).explode("keyword")
    counted = (
        pl.concat([everything, carried])
        .group_by(place)
        .agg(pl.len().cast(pl.Int64).alias("posts"), pl.col("alone").sum())
        .sort(place)
    )
    return [Count(*row) for row in counted.iter_rows()]


def negative(counts: Iterable[Count]) -> list[Count]:
    """The counts that undo these."""
    return [count._replace(posts=-count.posts, alone=-count.alone) for count in counts]


def packed(counts: Iterable[Count]) -> list[list[Any]]:
    """The counts as JSON can carry them."""
    return [list(count) for count in counts]


def unpacked(plain: Iterable[Iterable[Any]]) -> list[Count]:
    """The counts that `packed` made."""
    return [Count(*row) for row in plain]
