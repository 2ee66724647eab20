"""The history of keywords: when each was active, why, who decided, and its posts, expected and collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, insert, select, update

from klda.store.sql import sql_tables
from klda.store.sql.database import Database, upsert
from klda.store.sql.sql_tables import new_id
from klda.types import Estimate, Keyword, KeywordSet


@dataclass(frozen=True)
class KeywordSpan:
    """A period in which a keyword was active; `ended` is None while it is active."""

    keyword: Keyword
    started: datetime
    reason: str
    decided_by: str
    proposal: str | None = None
    ended: datetime | None = None
    end_reason: str | None = None
    ended_by: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The posts of a keyword in a window: expected, and collected so far."""

    window_start: datetime
    keyword: str
    expected: Estimate
    realised: int | None
    """None if the window has not begun."""


@dataclass(frozen=True)
class KeywordHistory:
    """The keyword history of one monitor."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]

    def switch(
        self,
        keywords: KeywordSet,
        *,
        decided_by: str,
        reasons: Mapping[str, str] | None = None,
        proposal: str | None = None,
        at: datetime | None = None,
    ) -> None:
        """Makes exactly these keywords active from a time on, by default now.

        reasons: the reason for each keyword that starts or ends. A keyword with changed forms ends and starts again.
        """
        moment = at or self.clock()
        why = dict(reasons or {})

        def work(connection: Connection) -> None:
            active = self._active(connection)
            t = sql_tables.keyword_spans
            kept = set()
            for name, keyword in active.items():
                if keyword in keywords.keywords:
                    kept.add(keyword)
                    continue
                ending = {"ended": moment, "ended_by": decided_by, "end_reason": why.get(keyword.text, "")}
                connection.execute(update(t).where(t.c.id == name).values(**ending))
            for place, keyword in enumerate(keywords):
                if keyword not in kept:
                    row = {"id": new_id(), "monitor": self.monitor, "keyword": keyword.text, "started": moment}
                    cause = {"reason": why.get(keyword.text, ""), "decided_by": decided_by, "proposal": proposal}
                    connection.execute(insert(t).values(**row, **cause, forms=list(keyword.forms), place=place))

        self.database.write(work)

    def active(self) -> KeywordSet:
        """The active keywords, in the order in which they were added."""
        return KeywordSet(tuple(self.database.read(self._active).values()))

    def _active(self, connection: Connection) -> dict[str, Keyword]:
        """The active keywords by the id of their span."""
        t = sql_tables.keyword_spans
        query = select(t.c.id, t.c.keyword, t.c.forms).where(t.c.monitor == self.monitor, t.c.ended.is_(None))
        rows = connection.execute(query.order_by(t.c.started, t.c.place))
        return {name: Keyword(text, tuple(forms)) for name, text, forms in rows}

    def spans(self, keyword: str | None = None) -> list[KeywordSpan]:
        """The spans of all keywords or of one, by their start."""
        t = sql_tables.keyword_spans
        query = select(t).where(t.c.monitor == self.monitor).order_by(t.c.started, t.c.place)
        if keyword is not None:
            query = query.where(t.c.keyword == keyword)
        return self.database.read(lambda c: [_span(row) for row in c.execute(query).mappings()])

    def expect(self, window_start: datetime, posts: Mapping[str, Estimate]) -> None:
        """Records the expected posts of each keyword in a window; later values replace earlier ones."""
        rows = [
            {"monitor": self.monitor, "window_start": window_start, "keyword": keyword}
            | {"mean": e.mean, "low": e.low, "high": e.high}
            for keyword, e in posts.items()
        ]
        self.database.write(lambda c: upsert(c, sql_tables.expectations, rows, replace=["mean", "low", "high"]))

    def outcomes(self, window_start: datetime | None = None) -> list[Outcome]:
        """Expected and collected posts by window and keyword, for one window or for all."""
        e, v = sql_tables.expectations, sql_tables.volume
        realised = and_(
            v.c.monitor == e.c.monitor,
            v.c.sample.is_(False),
            v.c.period == "window",
            v.c.start == e.c.window_start,
            v.c.keyword == e.c.keyword,
        )
        query = (
            select(e.c.window_start, e.c.keyword, e.c.mean, e.c.low, e.c.high, v.c.posts)
            .join_from(e, v, realised, isouter=True)
            .where(e.c.monitor == self.monitor)
            .order_by(e.c.window_start, e.c.keyword)
        )
        if window_start is not None:
            query = query.where(e.c.window_start == window_start)
        return self.database.read(
            lambda c: [
                Outcome(window, keyword, Estimate(mean, low, high), posts or 0)
                for window, keyword, mean, low, high, posts in c.execute(query)
            ]
        )


def _span(row: Mapping[Any, Any]) -> KeywordSpan:
    names = ("started", "reason", "decided_by", "proposal", "ended", "end_reason", "ended_by")
    return KeywordSpan(Keyword(row["keyword"], tuple(row["forms"])), **{name: row[name] for name in names})
