"""A Kafka topic of posts in JSON, in any format that `read_posts` knows, one record per message.

The cursor holds the next offset of each partition, and the time at which it was reached. The collector stores it;
nothing is committed to Kafka. A message without a value (a tombstone) deletes the post whose id is its key. Deletions
and edits in messages of a platform are applied too. New partitions are found at the next start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import orjson

from klda.errors import SettingError, SourceError
from klda.extras import require
from klda.posts.formats.outcome import BROKEN_JSON, NUL_BYTES, TOO_LONG, Bad, Outcome, Skip
from klda.posts.parsing import parse_record
from klda.streams.connections import outside
from klda.streams.protocol import Burst, Deleted, Event, Gap, Health, event_of
from klda.types import KeywordSet

MAX_MESSAGE = 1 << 20
BURST = 1024
WAIT = 0.2
"""Seconds of one wait for messages; after this time the source notices that the collector has stopped."""
PATIENCE = 10.0
"""Seconds in which the brokers must list the partitions."""


class Kafka:
    """The messages of all partitions of a topic.

    servers: `host:port`, separated by commas. tombstones: whether empty messages delete posts. options: more settings
    of librdkafka, such as `security.protocol`. only_outside: whether to refuse servers in the own network, for servers
    that strangers may name.
    """

    replayable = True
    unfiltered = True

    def __init__(
        self,
        servers: str = "localhost:9092",
        *,
        topic: str = "posts",
        tombstones: bool = True,
        options: dict[str, str] | None = None,
        only_outside: bool = False,
    ) -> None:
        require("kafka", "reading from Kafka")
        import confluent_kafka

        self.name = f"kafka {topic}"
        self.health = Health()
        self._kafka: Any = confluent_kafka
        self._topic, self._tombstones, self._only_outside = topic, tombstones, only_outside
        self._settings: dict[str, Any] = {
            **(options or {}),
            "bootstrap.servers": servers,
            "group.id": f"klda-{topic}",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": 16_384,
        }

    async def update_keywords(self, keywords: KeywordSet) -> None:
        """Does nothing, because the source brings all posts."""

    async def bursts(self, cursor: str | None = None) -> AsyncGenerator[Burst, None]:
        """Bursts of the messages after the cursor; without a cursor, of all messages in the topic."""
        offsets, heard, cluster = _read_cursor(cursor)
        await asyncio.to_thread(self._look)
        try:
            consumer = self._kafka.Consumer(self._settings)
        except self._kafka.KafkaException as error:
            raise SettingError(f"{self.name}: librdkafka refuses its options ({error.args[0].str()})") from error
        with ThreadPoolExecutor(1) as thread:  # one thread, so that the consumer is not closed while it reads
            loop = asyncio.get_running_loop()
            try:
                here, partitions = await loop.run_in_executor(thread, self._partitions, consumer)
                if cluster not in ("", here):
                    offsets.clear()  # offsets of other servers are not valid here
                gone = await loop.run_in_executor(thread, self._assign, consumer, partitions, offsets)
                if gone:
                    gap = Gap(
                        datetime.fromtimestamp(heard, UTC), datetime.now(UTC), "deleted by Kafka before it was read"
                    )
                    yield Burst((gap,), cursor)
                while True:
                    messages = await loop.run_in_executor(thread, consumer.consume, BURST, WAIT)
                    events: list[Event] = []
                    for message in messages:
                        self._check(message.error())
                        if message.error() is None:
                            offsets[message.partition()] = message.offset() + 1
                            events += self._events(message.key(), message.value())
                    if messages:
                        yield Burst(tuple(events), _write_cursor(offsets, here))
            finally:
                await loop.run_in_executor(thread, consumer.close)

    def _look(self) -> None:
        """Raises SettingError for servers in the own network, if `only_outside` is set."""
        for server in self._settings["bootstrap.servers"].split(",") if self._only_outside else ():
            host, _, port = server.rpartition(":")
            try:
                outside(host.strip("[]"), int(port))
            except OSError as error:
                raise SourceError(f"{self.name}: {host} is not a known host ({error}); check the servers") from error

    def _assign(self, consumer: Any, partitions: list[int], offsets: dict[int, int]) -> bool:
        """Starts every partition at its offset; returns whether Kafka has deleted messages from there."""
        gone = False
        starts = []
        for number in partitions:
            start = offsets.get(number, self._kafka.OFFSET_BEGINNING)
            if number in offsets:
                partition = self._kafka.TopicPartition(self._topic, number)
                first, _ = consumer.get_watermark_offsets(partition, timeout=PATIENCE)
                gone |= first > start
                start = max(first, start)
            starts.append(self._kafka.TopicPartition(self._topic, number, start))
        consumer.assign(starts)
        return gone

    def _partitions(self, consumer: Any) -> tuple[str, list[int]]:
        """The id of the cluster, and the partitions of the topic."""
        try:
            found = consumer.list_topics(self._topic, timeout=PATIENCE)
            topic = found.topics[self._topic]
        except self._kafka.KafkaException as error:
            raise SourceError(f"{self.name}: no broker answers ({error}); check the servers") from error
        if topic.error is not None or not topic.partitions:
            raise SourceError(f"{self.name}: there is no such topic ({topic.error}); check its name")
        return found.cluster_id or "", list(topic.partitions)

    def _check(self, error: Any) -> None:
        """Ignores errors that librdkafka repairs itself, and raises SourceError for others."""
        if error is not None and (error.fatal() or not error.retriable()):
            raise SourceError(f"{self.name}: {error.str()}; check the topic and the rights of this client")

    def _events(self, key: bytes | None, value: bytes | None) -> list[Event]:
        found: list[Event] = []
        if value is None and key and self._tombstones:
            if b"\0" in key:  # no post has such an id; a serialiser wrote the key
                self.health.reject(Bad(NUL_BYTES, "key"))
            else:
                found.append(Deleted(key.decode("utf-8", "replace")))
        for event in map(event_of, () if value is None else _outcomes(value)):
            if isinstance(event, Skip | Bad):
                self.health.reject(event)
            else:
                found.append(event)
        for one in found:
            self.health.count(one)
        return found


def _outcomes(value: bytes) -> list[Outcome]:
    if len(value) > MAX_MESSAGE:
        return [Bad(TOO_LONG)]
    try:
        return list(parse_record(orjson.loads(value)))
    except orjson.JSONDecodeError:
        return [Bad(BROKEN_JSON, value=value[:100])]


def _read_cursor(cursor: str | None) -> tuple[dict[int, int], float, str]:
    """The next offset of each partition, the time in seconds since 1970 when it was reached, and the cluster."""
    try:
        content: Any = {"heard": 0, "offsets": {}} if cursor is None else orjson.loads(cursor)
        offsets = {int(number): int(offset) for number, offset in content["offsets"].items()}
        return offsets, float(content["heard"]), str(content.get("cluster", ""))
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise SettingError(
            f'cursor {cursor!r}: a cursor of Kafka looks like {{"heard": 1767607200, "offsets": {{"0": 17}}}}'
        ) from error


def _write_cursor(offsets: dict[int, int], cluster: str) -> str:
    numbered = {str(number): offset for number, offset in sorted(offsets.items())}
    return orjson.dumps({"cluster": cluster, "heard": int(time.time()), "offsets": numbered}).decode()
