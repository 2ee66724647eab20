"""Examples that were chosen while posts were being forgotten.

Forgetting takes a post out of the examples that are saved by then. A proposal takes minutes, and may have read the post
before: so whoever saves examples looks once more whether their posts are still there.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from klda.advice.explanation import Example
from klda.monitor.monitor import Monitor
from klda.store.sql.topic_records import TopicExample
from klda.types import Window


def check_examples(monitor: Monitor, shown: Iterable[Example | TopicExample], windows: Iterable[Window]) -> None:
    """Takes back the examples whose posts are not stored any more as they are shown; call it once they are saved."""
    left, store = {(example.id, example.text) for example in shown}, monitor.posts()
    for sample in (False, True):
        own = pc.field("id").isin(pa.array((name for name, _ in left), pa.string()))
        there = store.read(windows, sample=sample).where(own, ["id", "text"])
        left -= set(zip(*(column.to_pylist() for column in there.columns), strict=True))
    gone = [name for name, _ in left]
    monitor.records.proposals.withdraw_examples(gone)
    monitor.records.topics.withdraw_examples(gone)
