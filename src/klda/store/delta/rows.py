"""How posts are stored: the columns of a row, the names of windows, and counts of posts by hour and keyword.

A row is a post as every part of the program knows it, and what the collector adds. The unfiltered sample lies in the
same table, in partitions of its own, so that one commit covers both; a post that matches and is also drawn for the
sample has a row in each part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from klda.errors import DataError
from klda.posts.schema import POST_SCHEMA
from klda.text.windows import Windowing

PARTITIONS = ("window", "sample")

ROW_SCHEMA = pa.schema(
    [
        *POST_SCHEMA,
        pa.field("keywords", pa.list_(pa.string()), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("batch", pa.int64(), nullable=False),
        pa.field("sample", pa.bool_(), nullable=False),
        pa.field("window", pa.string(), nullable=False),
    ]
)
"""The columns of `POST_SCHEMA`, the keywords a post was collected for, and where it came from."""


def window_name(start: datetime) -> str:
    """The start of a window as partitions name it; names sort as times do.

    >>> window_name(datetime(2026, 1, 5, tzinfo=UTC)), window_start("2026-01-05T00:00:00Z").year
    ('2026-01-05T00:00:00Z', 2026)
    """
    return start.astimezone(UTC).isoformat().replace("+00:00", "Z")


def window_start(name: str) -> datetime:
    """The start of the window that a partition names."""
    return datetime.fromisoformat(name)


def post_rows(
    posts: pa.RecordBatch | pa.Table,
    keywords: Sequence[Sequence[str]] | None,
    *,
    source: str,
    batch: int,
    windowing: Windowing,
) -> pa.Table:
    """The rows that store these posts; without keywords they are a sample of the stream, whatever they carry."""
    table = pa.table(posts) if isinstance(posts, pa.Table) else pa.Table.from_batches([posts])
    n = table.num_rows
    carried = [[]] * n if keywords is None else [list(texts) for texts in keywords]
    if len(carried) != n:
        raise DataError(f"{n} posts come with keywords for {len(carried)}; give one list of keywords for each post")
    columns = {
        **{name: table.column(name) for name in POST_SCHEMA.names},
        "keywords": pa.array(carried, ROW_SCHEMA.field("keywords").type),
        "source": pa.repeat(source, n),
        "batch": pa.repeat(pa.scalar(batch, pa.int64()), n),
        "sample": pa.repeat(keywords is None, n),
        "window": window_names(table.column("time"), windowing),
    }
    return pa.table([columns[name] for name in ROW_SCHEMA.names], schema=ROW_SCHEMA)


def window_names(times: pa.ChunkedArray, windowing: Windowing) -> pa.Array:
    """The name of the window that holds each time; only windows that hold one are looked at, however far apart."""
    instants: NDArray[np.int64] = np.asarray(pc.cast(times, pa.int64()).to_numpy(), dtype=np.int64)
    order = np.argsort(instants, kind="stable")
    ascending = instants[order]
    names = np.empty(len(instants), dtype=object)
    at = 0
    while at < len(ascending):
        window = windowing.holding(_EPOCH + timedelta(microseconds=int(ascending[at])))
        end = int(np.searchsorted(ascending, (window.end - _EPOCH) // timedelta(microseconds=1)))
        names[order[at:end]] = window_name(window.start)
        at = end
    return pa.array(names, pa.string())


def part_of(table: pa.Table, sample: bool) -> pa.Table:
    """The rows of the unfiltered sample, or those that were collected."""
    return table.filter(pc.equal(table.column("sample"), sample))


def outdated(rows: pa.Table) -> pa.Table:
    """The rows of each id that a later batch has brought again."""
    named = list(zip(rows.column("id").to_pylist(), rows.column("batch").to_pylist(), strict=True))
    newest = dict(sorted(named))  # of equal ids the last batch comes last
    return rows.filter(pa.array([batch < newest[name] for name, batch in named], pa.bool_()))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
