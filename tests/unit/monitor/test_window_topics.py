from __future__ import annotations

import asyncio
from typing import Any

import pytest

from klda.errors import DataError
from klda.monitor.collect import Collector
from klda.monitor.monitor import Monitor
from klda.monitor.overview import flow, now, yields
from klda.monitor.window_topics import learn_topics, topics_over_time
from klda.store.sql.topic_records import WindowTopics
from klda.streams import Deleted, Received
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, Scripted, received, row

WARD = "the hospital ward has beds and nurses tonight"
PHONE = "my doctor answers the clinic phone every morning"


def collected(monitor: Monitor, *events: object) -> None:
    rows = [row(f"{n}", WARD if n % 2 else PHONE, week=n % 3) for n in range(90)]
    asyncio.run(Collector(monitor, Scripted(received(*rows), list(events))).run(asyncio.Event()))  # type: ignore[arg-type]


def test_topics_are_kept_with_examples_of_the_last_window(monitor: Monitor) -> None:
    collected(monitor)
    found = learn_topics(monitor)
    assert found == monitor.records.topics.latest()
    assert found.windows == (MONDAY, MONDAY + WEEK, MONDAY + 2 * WEEK)
    words = {word for topic in found.topics for word in topic.words}
    assert {"ward", "nurses", "phone", "clinic"} <= words
    assert not {"hospital", "doctor"} & words  # every post has them
    for window in range(3):
        assert sum(topic.shares[window] for topic in found.topics) == pytest.approx(1, abs=0.01)
    assert all(example.time >= MONDAY + 2 * WEEK for topic in found.topics for example in topic.examples)
    texts = [example.text for topic in found.topics for example in topic.examples]
    assert {WARD, PHONE} <= set(texts)
    assert [job.state for job in monitor.records.jobs.newest() if job.kind == "topics"] == ["done"]


def test_the_same_seed_finds_the_same_topics(monitor: Monitor) -> None:
    collected(monitor)
    assert learn_topics(monitor).topics == learn_topics(monitor).topics


def test_few_posts_have_no_topics(monitor: Monitor) -> None:
    with pytest.raises(DataError, match="there are no posts yet"):
        learn_topics(monitor)
    asyncio.run(Collector(monitor, Scripted(received(row("a"), row("b")))).run(asyncio.Event()))
    with pytest.raises(DataError, match="too few"):
        learn_topics(monitor)


def test_a_deleted_post_is_no_example_any_more(monitor: Monitor) -> None:
    collected(monitor)
    shown = {example.id for topic in learn_topics(monitor).topics for example in topic.examples}
    asyncio.run(Collector(monitor, Scripted([], [], [Deleted(name) for name in shown])).run(asyncio.Event()))
    found = monitor.records.topics.latest()
    assert found is not None
    assert not [example for topic in found.topics for example in topic.examples]


def test_a_post_that_is_forgotten_while_topics_are_learnt_is_no_example(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []

    def meanwhile(*given: Any, **named: Any) -> WindowTopics:
        found = topics_over_time(*given, **named)
        gone.extend(sorted({example.id for topic in found.topics for example in topic.examples})[:2])
        again = Received(row(gone[1], "the hospital says something else now", week=2), edited=True)
        asyncio.run(Collector(monitor, Scripted([], [], [Deleted(gone[0]), again])).run(asyncio.Event()))
        return found

    collected(monitor)
    monkeypatch.setattr("klda.monitor.window_topics.topics_over_time", meanwhile)
    chosen = {example.id for topic in learn_topics(monitor).topics for example in topic.examples}
    found = monitor.records.topics.latest()
    assert found is not None
    assert {example.id for topic in found.topics for example in topic.examples} == chosen - set(gone)


def test_what_flows_in_adds_up(make: Make) -> None:
    with make() as monitor:
        posts = [row("a", "hospital doctor"), row("b", "hospital"), row("c", "doctor hospital"), row("d", "doctor")]
        asyncio.run(Collector(monitor, Scripted(received(*posts, row("e", "doctor", week=1)))).run(asyncio.Event()))
        assert sum(point.share for point in flow(monitor, "window")) == 5
        assert sum(point.share for point in flow(monitor, "day")) == 5
        assert sum(point.share for point in flow(monitor, "hour")) == 1  # the newest two days
        counts = now(monitor)
        assert (counts.posts, counts.total, counts.running) == (1, 5, False)
        [hospital, doctor] = yields(monitor)
        assert (hospital.posts, hospital.before, hospital.overlap) == (0, 3, None)
        assert (doctor.posts, doctor.alone, doctor.before, doctor.overlap) == (1, 1, 3, 0.0)


def test_a_monitor_without_posts_flows_not(monitor: Monitor) -> None:
    assert flow(monitor, "window") == []
    assert now(monitor).window is None
    assert [one.posts for one in yields(monitor)] == [0, 0]
