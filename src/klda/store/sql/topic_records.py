"""What recent windows were about: topics that are worked out when a window closes, so that pages only read them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, select, update

from klda.store.sql import sql_tables
from klda.store.sql.database import Database, upsert


@dataclass(frozen=True)
class TopicExample:
    """A post of the last window that is about little else."""

    id: str
    text: str
    time: datetime


@dataclass(frozen=True)
class TopicOverTime:
    """A topic by its first words, and its share of the posts of each window."""

    words: tuple[str, ...]
    shares: tuple[float, ...]
    examples: tuple[TopicExample, ...] = ()

    @property
    def share(self) -> float:
        """Its share of the last window."""
        return self.shares[-1]


@dataclass(frozen=True)
class WindowTopics:
    """The topics of a window and of those before it; the same topics throughout, so that their shares compare."""

    windows: tuple[datetime, ...]
    """Starts, in order; the last is the one that the topics are for."""
    topics: tuple[TopicOverTime, ...]
    """The largest of the last window first."""
    n_posts: int
    """Posts that they were learnt from."""
    made: datetime


@dataclass(frozen=True)
class TopicRecords:
    """The topics of one monitor."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def save(self, found: WindowTopics) -> None:
        """Keeps topics; earlier ones of the same window are replaced."""
        row = {"monitor": self.monitor, "window_start": found.windows[-1], "made": found.made, "body": _packed(found)}
        self.database.write(lambda c: upsert(c, sql_tables.topics, [row], replace=["made", "body"]))

    def latest(self) -> WindowTopics | None:
        """The topics of the newest window that has any."""
        t = sql_tables.topics
        query = select(t.c.body).where(t.c.monitor == self.monitor).order_by(t.c.window_start.desc()).limit(1)
        body = self.database.read(lambda c: c.execute(query).scalar())
        return None if body is None else _unpacked(body)

    def withdraw_examples(self, ids: Collection[str]) -> int:
        """Takes posts that were deleted out of all examples; returns how many windows changed."""
        gone = frozenset(ids)
        return self._rewrite(lambda example: example.id not in gone) if gone else 0

    def withdraw_before(self, time: datetime) -> int:
        """Takes posts from before a time out of all examples; returns how many windows changed."""
        return self._rewrite(lambda example: example.time >= time)

    def _rewrite(self, keep: Callable[[TopicExample], bool]) -> int:
        t = sql_tables.topics

        def work(connection: Connection) -> int:
            changed = 0
            mine = t.c.monitor == self.monitor
            for window, body in connection.execute(select(t.c.window_start, t.c.body).where(mine)).all():
                found = _unpacked(body)
                cleaned = replace(
                    found,
                    topics=tuple(replace(x, examples=tuple(e for e in x.examples if keep(e))) for x in found.topics),
                )
                if cleaned != found:
                    here = mine & (t.c.window_start == window)
                    connection.execute(update(t).where(here).values(body=_packed(cleaned)))
                    changed += 1
            return changed

        return self.database.write(work)


def _packed(found: WindowTopics) -> str:
    return orjson.dumps(asdict(found)).decode()


def _unpacked(body: str) -> WindowTopics:
    plain: dict[str, Any] = orjson.loads(body)
    topics = tuple(
        TopicOverTime(
            tuple(topic["words"]),
            tuple(topic["shares"]),
            tuple(TopicExample(e["id"], e["text"], datetime.fromisoformat(e["time"])) for e in topic["examples"]),
        )
        for topic in plain["topics"]
    )
    windows = tuple(datetime.fromisoformat(start) for start in plain["windows"])
    return WindowTopics(windows, topics, plain["n_posts"], datetime.fromisoformat(plain["made"]))
