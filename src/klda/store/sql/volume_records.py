"""The volume: how many posts arrived by hour, day and window, for each keyword. Pages show it without scanning posts.

The counts are sums over the commits of the table of posts. Each commit notes its changes, and the database stores the
last commit that it has added. So each commit is added exactly once, in spite of crashes, and a restored database
catches up. Expired posts stay counted; deleted posts do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, literal, select, update

from klda.store.delta.post_store import PostStore
from klda.store.delta.rows import ALL, Count, window_start
from klda.store.sql import sql_tables
from klda.store.sql.database import Database, upsert
from klda.types import Window

Period = Literal["hour", "day", "window"]

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class VolumePoint:
    """The posts of one keyword in one hour, day or window."""

    start: datetime
    keyword: str
    posts: int
    alone: int
    """Posts that match no other keyword."""


@dataclass(frozen=True)
class Volume:
    """The volume of one monitor."""

    database: Database
    monitor: str

    def catch_up(self, posts: PostStore) -> None:
        """Adds the changes of commits since the last call; call it at the start and after each batch."""
        since = self.database.read(self._folded)
        changes = posts.changes(since)
        if changes is None:
            self._count_again(posts, since)
        elif changes:
            counts = [count for change in changes for count in change.counts]
            self._advance(since, changes[-1].version, counts)

    def series(
        self,
        period: Period,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        keywords: Collection[str] | None = None,
        sample: bool = False,
    ) -> list[VolumePoint]:
        """The posts by time and keyword in [since, until), in order; for some keywords or all.

        The keyword `""` stands for all together: a post that matches three keywords counts once. The unfiltered sample
        has this count only.
        """
        v = sql_tables.volume
        query = select(v.c.start, v.c.keyword, v.c.posts, v.c.alone).where(
            v.c.monitor == self.monitor, v.c.sample.is_(sample), v.c.period == period, v.c.posts > 0
        )
        if since is not None:
            query = query.where(v.c.start >= since)
        if until is not None:
            query = query.where(v.c.start < until)
        if keywords is not None:
            query = query.where(v.c.keyword.in_(list(keywords)))
        query = query.order_by(v.c.start, v.c.keyword)
        return self.database.read(lambda c: [VolumePoint(*row) for row in c.execute(query)])

    def newest(self, period: Period, until: datetime) -> datetime | None:
        """The start of the newest hour, day or window before a time that has posts; None if there is none."""
        v = sql_tables.volume
        query = select(func.max(v.c.start)).where(
            v.c.monitor == self.monitor, v.c.sample.is_(False), v.c.period == period, v.c.posts > 0, v.c.start < until
        )
        return self.database.read(lambda c: c.execute(query).scalar())

    def total(self, *, sample: bool = False) -> int:
        """The number of posts ever collected, or in the sample, without those deleted at their source."""
        return sum(point.posts for point in self.series("window", keywords=[ALL], sample=sample))

    def _folded(self, connection: Connection) -> int:
        t = sql_tables.folded
        found = connection.execute(select(t.c.version).where(t.c.monitor == self.monitor)).scalar()
        return -1 if found is None else int(found)

    def _advance(self, since: int, version: int, counts: Iterable[Count], replaced: Collection[Window] = ()) -> None:
        rows = self._rows(counts)

        def work(connection: Connection) -> None:
            if self._claim(connection, since, version):
                for window in replaced:
                    self._clear(connection, window)
                upsert(connection, sql_tables.volume, rows, add=["posts", "alone"])
                self._add_up_days(connection, replaced)

        self.database.write(work)

    def _claim(self, connection: Connection, since: int, version: int) -> bool:
        """Whether the mark was moved from one version to another; False if it was moved before."""
        t = sql_tables.folded
        if since < 0:
            found = connection.execute(select(t.c.version).where(t.c.monitor == self.monitor)).first()
            if found is None:
                connection.execute(insert(t).values(monitor=self.monitor, version=version))
            return found is None
        mark = (t.c.monitor == self.monitor) & (t.c.version == since)
        return connection.execute(update(t).where(mark).values(version=version)).rowcount == 1

    def _count_again(self, posts: PostStore, since: int) -> None:
        """Counts all stored windows again, from their posts."""
        version = posts.version
        windows = [size.window for size in posts.windows()]
        self._advance(since, version, (c for window in windows for c in posts.count(window)), windows)

    def _clear(self, connection: Connection, window: Window) -> None:
        """Removes the counts of a window and of its hours; the first hour may begin before the window."""
        v = sql_tables.volume
        starts: dict[Period, datetime] = {"window": window.start, "hour": window.start.replace(minute=0, second=0)}
        for period, start in starts.items():
            inside = (v.c.period == period) & (v.c.start >= start) & (v.c.start < window.end)
            connection.execute(delete(v).where(v.c.monitor == self.monitor, inside))

    def _add_up_days(self, connection: Connection, windows: Collection[Window]) -> None:
        """Recomputes the days of these windows from their hours; some hours may belong to expired windows."""
        v = sql_tables.volume
        for day in sorted({day for window in windows for day in _days(window)}):
            inside = (v.c.monitor == self.monitor) & (v.c.start >= day) & (v.c.start < day + _DAY)
            connection.execute(delete(v).where(inside, v.c.period == "day"))
            row: dict[str, Any] = {"sample": v.c.sample, "keyword": v.c.keyword}
            row |= {"monitor": literal(self.monitor), "period": literal("day"), "start": literal(day, v.c.start.type)}
            row |= {"posts": func.sum(v.c.posts), "alone": func.sum(v.c.alone)}
            hours = select(*row.values()).where(inside, v.c.period == "hour").group_by(v.c.sample, v.c.keyword)
            connection.execute(insert(v).from_select(list(row), hours))

    def _rows(self, counts: Iterable[Count]) -> list[dict[str, Any]]:
        """The changes for each row of the table, each row once."""
        posts: Counter[tuple[bool, Period, datetime, str]] = Counter()
        alone: Counter[tuple[bool, Period, datetime, str]] = Counter()
        for count in counts:
            hour = count.start
            starts: dict[Period, datetime] = {
                "hour": hour,
                "day": hour - timedelta(hours=hour.hour),
                "window": window_start(count.window),
            }
            for period, start in starts.items():
                place = (count.sample, period, start, count.keyword)
                posts[place] += count.posts
                alone[place] += count.alone
        names = ("sample", "period", "start", "keyword")
        return [
            {"monitor": self.monitor, "posts": n, "alone": alone[place], **dict(zip(names, place, strict=True))}
            for place, n in posts.items()
        ]


def _days(window: Window) -> Iterator[datetime]:
    """The days, in UTC, that a window touches."""
    day = window.start.replace(hour=0, minute=0, second=0)
    while day < window.end:
        yield day
        day += _DAY
