"""A monitor with half a year behind it, as the benchmark of the studio shows it to its readers.

Windows, counts, topics and the waiting proposal come from stored posts by the same functions that the commands call.
The posts are those of a simulated platform that carry a keyword, each week's repeated under new ids until there are as
many as asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.loopback import keywords_for, matching
from klda.monitor.calendar import close
from klda.monitor.create import create
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.propose import propose
from klda.monitor.window_topics import learn_topics
from klda.posts.schema import POST_SCHEMA, to_batch
from klda.simulation import World
from klda.text.matching import Matcher
from klda.types import Estimate, KeywordSet, Post

NAME = "studio"
WEEKS = 26
WEEK = timedelta(days=7)
LIST, EVERYTHING = 20, 0.9
"""Keywords, and about the share of all posts that they bring."""
CHANGES = 6
"""How often the list changed."""
_TEXTS_A_WEEK = 3_000


def world() -> World:
    """The platform, up to the window that is open now."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return World(weeks=WEEKS, posts_per_week=_TEXTS_A_WEEK, start=today - timedelta(today.weekday()) - WEEKS * WEEK)


def carrying(posts: Sequence[Post]) -> tuple[list[str], list[Post]]:
    """Keywords, and those of the posts that carry one of them."""
    texts = [post.text for post in posts]
    keywords = keywords_for(texts, LIST, EVERYTHING)
    return keywords, [post for post, carries in zip(posts, matching(texts, keywords), strict=True) if carries]


def make_home(home: Path, port: int, posts: int) -> None:
    """A home with a monitor of so many posts, whose source is a Jetstream on this port."""
    platform = world()
    keywords, said = carrying(list(platform.posts()))
    values = {
        "subject": "Half a year of posts",
        "keywords": keywords,
        "source": f"jetstream:ws://127.0.0.1:{port}",
        "sample": 0.0,
        "history": 2,
        "policy_settings": {"iterations": 30},
        "budget": {"max_keywords": LIST + 5},
    }
    create(home, NAME, MonitorSettings.of(values), created_by="benchmark", clock=lambda: platform.start)
    with opened(home, NAME) as monitor:
        _collect(monitor, said, posts)
        _change(monitor, keywords, platform.start)
        close(monitor)
        learn_topics(monitor)
        propose(monitor)


def _collect(monitor: Monitor, said: Sequence[Post], posts: int) -> None:
    """Stores the past, a week a commit."""
    store, matcher = monitor.posts(), Matcher(monitor.records.keywords.active())
    names = matcher.keywords.texts
    for number, (week, n) in enumerate(_weeks(said, posts), start=1):
        found = matcher.match_many(week.column("text").to_pylist())
        carried = [[names[k] for k in found[row]] for row in range(len(found))]
        chosen = np.arange(n) % week.num_rows
        batch = _renamed(week.take(pa.array(np.sort(chosen))), number)
        keywords = [carried[row] for row in np.sort(chosen).tolist()]
        store.append(batch, keywords, source="past", batch=number, cursor=str(number))
    monitor.records.volume.catch_up(store)


def _weeks(said: Sequence[Post], posts: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yields what was said in each week, and how many posts to make of it."""
    first = min(post.time for post in said)
    numbers = np.array([(post.time - first) // WEEK for post in said])
    for week in range(WEEKS):
        n = posts * (week + 1) // WEEKS - posts * week // WEEKS
        yield to_batch([said[i] for i in np.flatnonzero(numbers == week).tolist()]), n


def _renamed(batch: pa.RecordBatch, week: int) -> pa.RecordBatch:
    """The same posts under new ids."""
    ids = pa.array([f"{week}-{row}" for row in range(batch.num_rows)], pa.string())
    return batch.set_column(POST_SCHEMA.get_field_index("id"), POST_SCHEMA.field("id"), ids)


def _change(monitor: Monitor, keywords: Sequence[str], start: datetime) -> None:
    """A past of decisions: the list grows and shrinks, and each window has an expectation."""
    records = monitor.records
    for change in range(1, CHANGES + 1):
        left = KeywordSet.of(*keywords[: LIST - change % 3])
        at = start + change * (WEEKS // (CHANGES + 1)) * WEEK
        why = dict.fromkeys(keywords, "brings what the others miss; about 1,200 posts a week")
        records.keywords.switch(left, decided_by="ann", reasons=why, at=at)
    for week in range(WEEKS + 1):
        expected = {keyword: Estimate(1_200, 900, 1_600) for keyword in keywords}
        records.keywords.expect(start + week * WEEK, expected)
