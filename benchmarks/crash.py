"""Whether a collector that is killed again and again loses or doubles a post: `python -m benchmarks.crash`.

A collector (`klda monitor collect`, a real table in a temporary folder) reads a loopback Jetstream, is killed (SIGKILL)
at random points of the stream and in its first moments, and is started again, until all posts are stored. Three times:
as it is; while keywords change every few seconds; and while the disk is full once. Prints JSON, for each of the three:
  kills, posts            how often it was killed, how many posts the stream has
  matched, stored         posts that must be in the table by the oracle, and those that are
  lost, duplicated        of those that must be there, how many are not; rows beyond a post's first, also in the sample
  unexpected              posts, or keywords of posts, that are in the table and cannot be
  counted                 posts by the counts that pages show: equal to `stored`
  commits, torn_files     batches that were committed; files that kills in the middle of one left behind, never read
  seconds                 how long it all took
With changing keywords, `matched` and `lost` give way to:
  due, due_for_changing   posts that carry a keyword that was active all the time in which they passed; those of them
                          for which it was a keyword that came or went
  missed_in_swap          of those, how many are not stored with that keyword
A post passes from the moment at which the server sends it first to the commit that holds it. A keyword is active from
`FOLLOWED` seconds after the switch that brought it (a collector looks every two) up to the switch that takes it away.
With a full disk, `disk` says how it was filled, and `error` what the collector said when it gave up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loopback import (
    DISTINCT,
    NAME,
    Commits,
    create_monitor,
    frames,
    keywords_for,
    matching,
    reached,
    simulated,
    start_collector,
    stored,
    torn_files,
)
from benchmarks.mishaps import Disk, Stream, Swapping
from klda.monitor.monitor import Monitor, opened
from tests.servers.jetstream import JetstreamServer

LINGER = 0.5
"""Seconds that a collector lives on at most when the server has reached the point of its death."""
STILLBORN, TORN = 0.1, 0.2
"""Shares of the collectors that are killed within their first moments, and while they write: wherever the stream is."""
WRITING = 0.02
"""Seconds that a collector lives on at most when it has begun to write."""
PATIENCE = 8.0
"""Seconds after which one is killed that should be killed while it writes, and does not."""
LIMIT = 900.0
"""Seconds after which one of the three runs is given up."""


@dataclass
class Trial:
    """One run through the stream, over as many lives of the collector as it takes."""

    home: Path
    stream: Stream
    draw: random.Random
    disk: Disk | None = None
    kills: int = 0
    error: str = ""

    async def run(self, monitor: Monitor, kills: int) -> None:
        """Kills a collector so many times, and lets the last one finish."""
        points = sorted(self.draw.randrange(self.stream.posts) for _ in range(kills))
        full_at = kills // 2 if self.disk else None
        for life, point in enumerate(points):
            if life == full_at:
                await self._fill_up(point)
            with self._collector() as process:
                await self._await_death(process, point)
        if full_at == kills:
            await self._fill_up(0)
        earlier = _collecting(monitor)
        with self._collector() as process:
            # It may have nothing left to do: told to end before it listens, it would die of the signal.
            while await asyncio.to_thread(reached, monitor) < self.stream.posts or _collecting(monitor) <= earlier:
                self._check(process)
                await asyncio.sleep(0.2)
            process.terminate()
            await _ended(process)
            assert process.exitcode == 0, self._said()

    async def _await_death(self, process: ForkServerProcess, point: int) -> None:
        kind, wait = self.draw.random(), self.stream.aim(point)
        if kind < TORN:
            await asyncio.to_thread(
                self._await_writing, max(0.0, self.draw.uniform(-WRITING, WRITING))
            )  # half: at once
        else:
            while kind < 1 - STILLBORN and not wait.is_set():
                self._check(process)
                await asyncio.sleep(0.01)
            await asyncio.sleep(self.draw.uniform(0, LINGER))
        process.kill()
        await _ended(process)
        assert process.exitcode == -signal.SIGKILL, self._said()
        self.kills += 1

    async def _fill_up(self, point: int) -> None:
        """One life in which the disk becomes full: it ends by itself, with an error."""
        assert self.disk is not None
        wait = self.stream.aim(point)
        with self._collector() as process:
            while process.is_alive():
                if wait.is_set():
                    await asyncio.to_thread(self.disk.fill, process)
                await asyncio.sleep(0.05)
            assert process.exitcode, "the collector ended as if nothing had happened"
        self.error = self._said()
        self.disk.empty()

    @contextmanager
    def _collector(self) -> Iterator[ForkServerProcess]:
        process = start_collector(self.home, self._errors)
        try:
            yield process
        finally:
            if process.is_alive():
                process.kill()
            process.join()

    def _await_writing(self, longer: float) -> None:
        """Returns a moment after a new data file begins to appear; apart from the loop, which is busy sending."""
        until, folder = time.monotonic() + PATIENCE, self.home / NAME / "posts"
        there = set(folder.glob("window=*/*/*"))
        while time.monotonic() < until and set(folder.glob("window=*/*/*")) <= there:
            time.sleep(0.0002)
        time.sleep(longer)

    @property
    def _errors(self) -> Path:
        return self.home.with_suffix(".errors")

    def _said(self) -> str:
        return self._errors.read_text().strip()

    def _check(self, process: ForkServerProcess) -> None:
        if not process.is_alive():
            raise RuntimeError(f"the collector ended by itself, with {process.exitcode}: {self._said()}")


async def _ended(process: ForkServerProcess) -> None:
    while process.is_alive():
        await asyncio.sleep(0.005)


async def trial(posts: int, kills: int, seed: int, *, swapping: bool = False, full: bool = False) -> dict[str, Any]:
    """What one of the three runs shows."""
    known = simulated()
    texts = [post.text for post in known]
    fixed = keywords_for(texts, 30, 0.4 if swapping else 0.8)  # many matches: many commits to be killed in
    swaps = Swapping(fixed, keywords_for(texts, 16, 0.5, without=fixed) if swapping else [])
    stream = Stream(posts)
    server = JetstreamServer(frames(posts, known), breaks=stream)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="klda-crash-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        with Disk.mount(home) if full else _no_disk() as disk:
            async with server.running():
                create_monitor(home, server.port, swaps.keywords)
                with opened(home, NAME) as monitor:
                    run = Trial(home, stream, random.Random(seed), disk)
                    changing = asyncio.ensure_future(swaps.run(monitor) if swapping else asyncio.sleep(0))
                    try:
                        await asyncio.wait_for(run.run(monitor, kills), LIMIT)
                    finally:
                        changing.cancel()
                        await asyncio.gather(changing, return_exceptions=True)
                    facts: dict[str, Any] = {
                        "kills": run.kills,
                        "posts": posts,
                        **judged(monitor, texts, stream, swaps, swapping),
                    }
    if disk is not None:
        facts |= {"disk": disk.kind, "error": run.error.replace(folder, "")}
    return {**facts, "seconds": round(time.monotonic() - began, 1)}


def _collecting(monitor: Monitor) -> set[str]:
    """The names of all collectors that came as far as to say that they are there."""
    return {job.id for job in monitor.records.jobs.newest(10_000) if job.kind == "collect"}


@contextmanager
def _no_disk() -> Iterator[None]:
    yield None


def judged(monitor: Monitor, texts: list[str], stream: Stream, swaps: Swapping, swapping: bool) -> dict[str, int]:
    """What is in the table, against what must be."""
    rows, sample, commits = stored(monitor), stored(monitor, sample=True), Commits.of(monitor)
    passed = commits.passed(stream.posts)
    numbers = np.arange(stream.posts) % DISTINCT
    due, changing, missed = (np.zeros(stream.posts, dtype=bool) for _ in range(3))
    possible: dict[str, NDArray[np.bool_]] = {}
    for word in {word for word, _, _ in swaps.all_spans()}:
        possible[word] = matching(texts, [word])[numbers]
        tagged = np.zeros(stream.posts, dtype=bool)
        tagged[[number for number, found in rows.items() if any(word in keywords for keywords in found)]] = True
        for name, since, until in swaps.all_spans():
            if name == word:
                demanded = possible[word] & (since <= stream.first_sent) & (passed <= until)
                due |= demanded
                changing |= demanded & (word not in swaps.fixed)
                missed |= demanded & ~tagged
    wrong = sum(
        not keywords or any(word not in possible or not possible[word][number] for word in keywords)
        for number, found in rows.items()
        for keywords in found
    )
    lost = int((due & ~np.isin(np.arange(stream.posts), list(rows))).sum())
    required = {"due": int(due.sum()), "due_for_changing": int(changing.sum()), "swaps": swaps.swaps}
    return {
        **(required if swapping else {"matched": int(due.sum())}),
        "stored": len(rows),
        **({"missed_in_swap": int(missed.sum())} if swapping else {"lost": max(lost, int(missed.sum()))}),
        "duplicated": sum(len(found) - 1 for part in (rows, sample) for found in part.values()),
        "unexpected": wrong,
        "counted": monitor.records.volume.total(),
        "commits": len(commits.times),
        "torn_files": torn_files(monitor),
    }


def benchmark(posts: int, kills: int, seed: int) -> dict[str, Any]:
    """What the three runs show."""
    return {
        "killed": asyncio.run(trial(posts, kills, seed)),
        "keywords_changing": asyncio.run(trial(posts, kills, seed + 1, swapping=True)),
        "disk_full": asyncio.run(trial(posts, kills // 10, seed + 2, full=True)),
    }


def main() -> None:
    """Runs the benchmark and prints what it showed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--posts", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a tenth of the posts and of the kills")
    arguments = parser.parse_args()
    part = 10 if arguments.quick else 1
    print(json.dumps(benchmark(arguments.posts // part, arguments.kills // part, arguments.seed)))


if __name__ == "__main__":
    main()
