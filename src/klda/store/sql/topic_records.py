"""The topics of recent windows. They are computed when a window closes, so that pages only read them."""

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
    """A post of the last window that is mainly about one topic."""

    id: str
    text: str
    time: datetime


@dataclass(frozen=True)
class TopicOverTime:
    """A topic: its first words, and its share of the posts in each window."""

    words: tuple[str, ...]
    shares: tuple[float, ...]
    examples: tuple[TopicExample, ...] = ()

    @property
    def share(self) -> float:
        """The share in the last window."""
        return self.shares[-1]


@dataclass(frozen=True)
class WindowTopics:
    """The topics of a window and of earlier ones. All windows have the same topics, so shares can be compared."""

    windows: tuple[datetime, ...]
    """The starts of the windows, in order; the last is the window of the topics."""
    topics: tuple[TopicOverTime, ...]
    """Sorted by share in the last window, largest first."""
    n_posts: int
    """The number of posts from which the topics were learnt."""
    made: datetime


@dataclass(frozen=True)
class TopicRecords:
    """The topics of one monitor."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def save(self, found: WindowTopics) -> None:
        """Stores topics; they replace earlier topics of the same window."""
        row = {"monitor": self.monitor, "window_start": found.windows[-1], "made": found.made, "body": _packed(found)}
        self.database.write(lambda c: upsert(c, sql_tables.topics, [row], replace=["made", "body"]))

    def latest(self) -> WindowTopics | None:
        """The newest stored topics; None if there are none."""
        t = sql_tables.topics
        query = select(t.c.body).where(t.c.monitor == self.monitor).order_by(t.c.window_start.desc()).limit(1)
        body = self.database.read(lambda c: c.execute(query).scalar())
        return None if body is None else _unpacked(body)

    def withdraw_examples(self, ids: Collection[str]) -> int:
        """How many windows changed because deleted posts were removed from their examples."""
        gone = frozenset(ids)
        return self._rewrite(lambda example: example.id not in gone) if gone else 0

    def withdraw_before(self, time: datetime) -> int:
        """How many windows changed because posts before a time were removed from their examples."""
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
