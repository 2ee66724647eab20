"""What the benchmarks of live collecting share: a known stream, a monitor on it, a collector, and what it stored.

The stream repeats a few thousand simulated texts, each time under a new id, so that a slow and obvious oracle can tell
for any number of posts which of them belong into the table.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import orjson
import pyarrow as pa
from deltalake import DeltaTable
from numpy.typing import NDArray

from klda.monitor.create import create
from klda.monitor.monitor import Monitor
from klda.monitor.monitor_settings import MonitorSettings
from klda.simulation import World
from klda.store.delta.rows import ROW_SCHEMA
from klda.text.matching import Matcher
from klda.types import KeywordSet, Post
from tests.servers.jetstream import SimulatedFrames

DISTINCT = 5_000
"""Texts that the stream repeats: as many as the loopback server does by itself."""
START, SPACING = 1_767_571_200_000_000, 20_000
"""The first post's time, and the time between two, in microseconds."""
NAME = "loopback"

_WORD = re.compile(r"[a-z]{4,}")
_forkserver = multiprocessing.get_context("forkserver")
_forkserver.set_forkserver_preload(["klda.cli.app", "klda.monitor.collect"])


def simulated() -> list[Post]:
    """The posts whose texts are repeated."""
    return list(World(weeks=1, posts_per_week=DISTINCT).posts())


def frames(n: int, posts: Sequence[Post]) -> SimulatedFrames:
    """The stream of so many posts."""
    return SimulatedFrames(n, posts, START, SPACING)


def number_of(time: int) -> int:
    """The number of the first post at this time or later."""
    return max(0, -(-(time - START) // SPACING))


def matching(texts: Sequence[str], keywords: Collection[str]) -> NDArray[np.bool_]:
    """Which texts carry any of the keywords."""
    return np.diff(Matcher(KeywordSet.of(*keywords)).match_many(texts).indptr) > 0


def keywords_for(texts: Sequence[str], n: int, share: float, without: Collection[str] = ()) -> list[str]:
    """So many words, about equally frequent, that about this share of the texts carries one of them."""
    counts = Counter(word for text in texts for word in set(_WORD.findall(text.lower())))
    words = [word for word, _ in counts.most_common() if word not in without]
    low, high = 0, len(words) - n  # further down the list, words are rarer
    while low < high:
        middle = (low + high) // 2
        if matching(texts, words[middle : middle + n]).mean() > share:
            low = middle + 1
        else:
            high = middle
    return words[low : low + n]


def create_monitor(home: Path, port: int, keywords: Sequence[str]) -> None:
    """A monitor on the stream, with windows of an hour."""
    source = f"jetstream:ws://127.0.0.1:{port}"
    values = {"subject": "loopback", "keywords": list(keywords), "source": source, "window": "1h"}
    create(home, NAME, MonitorSettings.of(values), created_by="benchmark")


def start_collector(home: Path, errors: Path) -> ForkServerProcess:
    """`klda monitor collect` in a process of its own, forked from one that has imported everything but run nothing."""
    process = _forkserver.Process(target=_collect, args=(str(home), str(errors)), daemon=True)
    process.start()
    return process


def _collect(home: str, errors: str) -> None:
    from klda.cli.app import main

    with Path(errors).open("w") as sys.stderr, Path("/dev/null").open("w") as sys.stdout:
        sys.argv = ["klda", "monitor", "collect", NAME, "--home", home, "--format", "json"]
        main()


def reached(monitor: Monitor) -> int:
    """How many posts of the stream lie before the cursor that was committed last."""
    position = monitor.posts().position(monitor.source().name)
    return 0 if position is None else number_of(int(position.cursor) + 1)


@dataclass(frozen=True)
class Commits:
    """The commits that moved the cursor on: when, in seconds since 1970, and the number of posts before the cursor."""

    times: NDArray[np.float64]
    posts: NDArray[np.int64]

    @classmethod
    def of(cls, monitor: Monitor) -> Commits:
        """Those of a monitor's table, oldest first."""
        source = monitor.source().name
        times, posts = [0.0], [0]
        for entry in reversed(DeltaTable(monitor.posts().uri).history()):
            place = entry.get("klda", {}).get("positions", {}).get(source)
            if place is not None and number_of(int(place[1]) + 1) > posts[-1]:
                times.append(entry["timestamp"] / 1000)
                posts.append(number_of(int(place[1]) + 1))
        return cls(np.array(times[1:]), np.array(posts[1:], dtype=np.int64))

    def passed(self, n: int) -> NDArray[np.float64]:
        """When the cursor passed each of the first n posts: by then, each had been matched."""
        return self.times[np.searchsorted(self.posts, np.arange(n), side="right")]


def stored(monitor: Monitor, *, sample: bool = False) -> dict[int, list[set[str]]]:
    """The rows of each post in the table, by its number: the keywords that each was stored for."""
    found: dict[int, list[set[str]]] = {}
    columns = pa.schema([ROW_SCHEMA.field("id"), ROW_SCHEMA.field("keywords")])
    for batch in monitor.posts().read(sample=sample).rows(columns):
        for name, keywords in zip(batch.column("id").to_pylist(), batch.column("keywords").to_pylist(), strict=True):
            found.setdefault(int(name.rpartition("/")[2]), []).append(set(keywords))
    return found


def torn_files(monitor: Monitor) -> int:
    """Data files that no commit names: what collectors had written when they were killed."""
    folder = Path(monitor.posts().uri)
    logs = (log.read_bytes() for log in folder.glob("_delta_log/*.json"))
    actions = (orjson.loads(line) for log in logs for line in log.splitlines())
    named = {unquote(action["add"]["path"]) for action in actions if "add" in action}
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.parquet") if "_delta_log" not in path.parts}
    return len(written - named)
