"""A Kafka topic as a source, against librdkafka's own mock broker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from klda import extras
from klda.errors import MissingExtraError, SettingError, SourceError
from klda.streams.kafka import Kafka
from klda.streams.protocol import Deleted, Event, Gap, Received

confluent_kafka = pytest.importorskip("confluent_kafka")

FAST = {"fetch.wait.max.ms": "20", "topic.metadata.refresh.interval.ms": "1000"}


@pytest.fixture(scope="module")
def broker() -> Iterator[tuple[Any, str]]:
    """A producer that carries a mock broker, and where it listens."""
    settings = {"test.mock.num.brokers": 1, "bootstrap.servers": "127.0.0.1", "linger.ms": 0, "log_level": 0}
    producer = confluent_kafka.Producer(settings)
    [node] = producer.list_topics(timeout=10).brokers.values()
    yield producer, f"{node.host}:{node.port}"
    producer.flush(5)


def send(producer: Any, topic: str, *messages: tuple[str, object]) -> None:
    for key, value in messages:
        content = value if isinstance(value, bytes | None) else orjson.dumps(value)
        producer.produce(topic, key=key.encode(), value=content)
    assert producer.flush(10) == 0


def record(number: int) -> dict[str, object]:
    return {"id": number, "time": "2026-01-05T10:00:00Z", "text": f"post {number}"}


def take(source: Kafka, n: int, cursor: str | None = None) -> tuple[list[Event], str | None]:
    async def test() -> tuple[list[Event], str | None]:
        events: list[Event] = []
        at = cursor
        async with asyncio.timeout(15), aclosing(source.bursts(cursor)) as bursts:
            async for burst in bursts:
                events += burst.events
                at = burst.cursor
                if len(events) >= n:
                    break
        return events, at

    return asyncio.run(test())


def ids(events: list[Event]) -> list[str]:
    return sorted((event.row.id for event in events if isinstance(event, Received)), key=int)


def test_every_partition_is_read_and_resumed_at_its_own_offset(broker: tuple[Any, str]) -> None:
    producer, servers = broker
    send(producer, "resumed", *((f"key {i}", record(i)) for i in range(50)))
    events, cursor = take(Kafka(servers, topic="resumed", options=FAST), 50)
    assert ids(events) == [str(i) for i in range(50)]
    assert cursor is not None
    offsets = orjson.loads(cursor)["offsets"]
    assert sum(offsets.values()) == 50
    assert len(offsets) > 1, "the mock broker makes several partitions"
    send(producer, "resumed", *((f"key {i}", record(i)) for i in range(50, 70)))
    again, _ = take(Kafka(servers, topic="resumed", options=FAST), 20, cursor)
    assert ids(again) == [str(i) for i in range(50, 70)]


def test_tombstones_delete_and_hostile_messages_are_counted(broker: tuple[Any, str]) -> None:
    producer, servers = broker
    hostile = [b"", b"{", b"\xff", b"[" * 5000, b"17", b'{"id": {}, "text": 3}']
    send(producer, "hostile", ("1", record(1)), *(("1", content) for content in hostile), ("1", None), ("1", record(2)))
    source = Kafka(servers, topic="hostile", options=FAST)
    events, _ = take(source, 3)
    first, gone, second = events
    assert gone == Deleted("1")
    assert ids([first, second]) == ["1", "2"]
    assert sum(source.health.bad.values()) == len(hostile)


def test_what_messages_delete_is_deleted(broker: tuple[Any, str]) -> None:
    producer, servers = broker
    gone = [{"event": "delete", "payload": payload} for payload in ("101", "1\0")]
    send(producer, "deletions", *(("key", message) for message in gone))
    source = Kafka(servers, topic="deletions", options=FAST)
    assert take(source, 1)[0] == [Deleted("101")]
    assert source.health.bad == {"NUL bytes": 1}


def test_what_kafka_dropped_before_it_was_read_is_a_recorded_gap(broker: tuple[Any, str]) -> None:
    producer, servers = broker
    send(producer, "dropped", ("1", record(1)))
    number = next(iter(orjson.loads(take(Kafka(servers, topic="dropped", options=FAST), 1)[1] or "")["offsets"]))
    behind = orjson.dumps({"heard": 1_767_607_200, "offsets": {number: -5}}).decode()  # the topic begins at 0
    events, _ = take(Kafka(servers, topic="dropped", options=FAST), 2, behind)
    gap, first = events
    assert isinstance(gap, Gap)
    assert gap.start == datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert ids([first]) == ["1"]


def test_a_cursor_of_another_source_and_a_missing_broker_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingError, match="cursor"):
        take(Kafka("127.0.0.1:1"), 1, "[3]")
    monkeypatch.setattr("klda.streams.kafka.PATIENCE", 0.2)
    with pytest.raises(SourceError, match="no broker answers"):
        take(Kafka("127.0.0.1:1", options={"log_level": "0"}), 1)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: name != "confluent-kafka")
    with pytest.raises(MissingExtraError, match=r"klda\[kafka\]"):
        Kafka()


def test_offsets_of_another_cluster_mean_nothing(broker: tuple[Any, str]) -> None:
    producer, servers = broker
    send(producer, "moved", *((f"key {i}", record(i)) for i in range(5)))
    _, cursor = take(Kafka(servers, topic="moved", options=FAST), 5)
    elsewhere = orjson.dumps(orjson.loads(cursor or "") | {"cluster": "another"}).decode()
    assert len(take(Kafka(servers, topic="moved", options=FAST), 5, elsewhere)[0]) == 5


def test_a_key_that_no_post_can_have_deletes_nothing(broker: tuple[Any, str]) -> None:
    producer, servers = broker
    send(producer, "binary", ("\0\0\0\x05one", None), ("1", record(1)))
    source = Kafka(servers, topic="binary", options=FAST)
    events, _ = take(source, 1)
    assert ids(events) == ["1"]
    assert source.health.bad == {"NUL bytes": 1}


def test_an_option_that_librdkafka_does_not_know_is_told() -> None:
    with pytest.raises(SettingError, match="librdkafka refuses its options"):
        take(Kafka("127.0.0.1:1", options={"no.such.option": "1"}), 1)
