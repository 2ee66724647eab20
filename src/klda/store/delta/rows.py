"""How posts are stored: the columns of a row, the names of windows, and counts of posts by hour and keyword.

A row has the columns of a post and those that the collector adds. The unfiltered sample is in the same table, in
partitions of its own, so that one commit covers both. A post that matches and is also in the sample has two rows.

Each commit counts its posts by window, hour and keyword. Pages show sums of these counts, and never scan posts.
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
"""The columns of `POST_SCHEMA`, the keywords that the post matches, and its source, batch and partition."""


def window_name(start: datetime) -> str:
    """The name of the partition for a window, from its start; names sort like times.

    >>> window_name(datetime(2026, 1, 5, tzinfo=UTC)), window_start("2026-01-05T00:00:00Z").year
    ('2026-01-05T00:00:00Z', 2026)
    """
    return start.astimezone(UTC).isoformat().replace("+00:00", "Z")


def window_start(name: str) -> datetime:
    """The start of a window, from the name of its partition."""
    return datetime.fromisoformat(name)


def post_rows(
    posts: pa.RecordBatch | pa.Table,
    keywords: Sequence[Sequence[str]] | None,
    *,
    source: str,
    batch: int,
    windowing: Windowing,
) -> pa.Table:
    """The rows for these posts; with `keywords=None` they belong to the unfiltered sample."""
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
    """The window name of each time; empty windows take no work."""
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
    """The rows of the unfiltered sample, or of the collected posts."""
    return table.filter(pc.equal(table.column("sample"), sample))


def outdated(rows: pa.Table) -> pa.Table:
    """The rows whose id has a newer row from a later batch."""
    named = list(zip(rows.column("id").to_pylist(), rows.column("batch").to_pylist(), strict=True))
    newest = dict(sorted(named))  # of equal ids the last batch comes last
    return rows.filter(pa.array([batch < newest[name] for name, batch in named], pa.bool_()))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


TALLIED = ("time", "keywords", "sample", "window")
"""The columns that are needed for counting."""

ALL = ""
"""Stands for all keywords together: a post that matches three keywords counts once."""


class Count(NamedTuple):
    """The number of posts in an hour of a window that match a keyword, or for `ALL` of all posts."""

    window: str
    sample: bool
    hour: int
    """Hours since 1970, UTC."""
    keyword: str
    posts: int
    alone: int
    """Posts that match no other keyword: the list would lose them without this one."""

    @property
    def start(self) -> datetime:
        """The start of the hour."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=self.hour)


def tally(rows: pa.Table | pa.RecordBatch) -> list[Count]:
    """The counts of posts in some rows, in a fixed order; the sample is counted as a whole.

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
    """The counts with opposite signs."""
    return [count._replace(posts=-count.posts, alone=-count.alone) for count in counts]


def packed(counts: Iterable[Count]) -> list[list[Any]]:
    """The counts as plain lists, for JSON."""
    return [list(count) for count in counts]


def unpacked(plain: Iterable[Iterable[Any]]) -> list[Count]:
    """The counts from plain lists, the reverse of `packed`."""
    return [Count(*row) for row in plain]
