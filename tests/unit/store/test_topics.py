from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from klda.store import Records, TopicExample, TopicOverTime, WindowTopics
from tests.unit.store.conftest import MONDAY


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    made = Records(tmp_path / "state.db", "health")
    yield made
    made.close()


def topics(*examples: str, week: int = 0) -> WindowTopics:
    start = MONDAY + timedelta(weeks=week)
    shown = tuple(TopicExample(name, f"text of {name}", start) for name in examples)
    return WindowTopics((start,), (TopicOverTime(("ward", "beds"), (1.0,), shown),), 40, start)


def test_the_topics_of_the_newest_window_come_back(records: Records) -> None:
    assert records.topics.latest() is None
    records.topics.save(topics("a", week=1))
    records.topics.save(topics("b"))
    assert records.topics.latest() == topics("a", week=1)
    records.topics.save(topics("c", week=1))
    assert records.topics.latest() == topics("c", week=1)


def test_posts_that_are_deleted_leave_the_examples(records: Records) -> None:
    records.topics.save(topics("a", "b"))
    records.topics.save(topics("a", week=1))
    assert records.topics.withdraw_examples(["a", "never shown"]) == 2
    assert records.topics.withdraw_examples(["a"]) == 0
    assert records.topics.latest() == topics(week=1)


def test_posts_that_expire_leave_the_examples(records: Records) -> None:
    records.topics.save(topics("a"))
    records.topics.save(topics("b", week=1))
    assert records.topics.withdraw_before(MONDAY + timedelta(days=1)) == 1
    assert records.topics.latest() == topics("b", week=1)
