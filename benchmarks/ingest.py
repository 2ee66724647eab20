"""How fast posts get from a stream into the table, and whether memory stays flat: `python -m benchmarks.ingest`.

A collector (`klda monitor collect`, as a command) reads everything that a Jetstream on loopback (a process of its own)
has, as fast as it comes; about 20 % of the posts carry a keyword, with few keywords and with many. Prints JSON:
  posts_per_second_50     posts received and dealt with up to a commit, over the time from the start of the collector's
                          job to that commit: the last full batch (the rest only waits for its five seconds)
  posts_per_second_5000   the same with 5,000 keywords, on the first 200,000 posts
  memory_growth_mb        resident memory of the collector with 50 keywords: the median while the last tenth of the
                          posts passes, less that while the second tenth does
  memory_held_growth_mb   the same without pages of mapped files (RssAnon + RssShmem): a library's code is read when it
                          is first needed, which for joining files is after some hundred thousand posts
  memory_peak_mb          the most it had, resident
  memory_mb, memory_held_mb   the medians themselves, for every tenth of the posts
  posts, share_50, ...    posts of the long run, and the share of them that is stored
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import psutil  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmarks.loopback import DISTINCT, NAME, Commits, create_monitor, keywords_for, reached, simulated
from benchmarks.processes import running
from benchmarks.watching import tree_megabytes
from klda.monitor.monitor import opened

SHARE = 0.2
FEW, MANY = 50, 5_000
SHORT = 200_000
LIMIT = 1_800.0
"""Seconds after which a run is given up."""


@dataclass(frozen=True)
class Measured:
    """What one run showed."""

    posts_per_second: float
    share: float
    memory: list[float]
    """Resident megabytes: the median of every tenth of the posts."""
    memory_held: list[float]
    """The same without pages of mapped files."""
    memory_peak: float


def measure(posts: int, keywords: Sequence[str]) -> Measured:
    """Lets a collector take in a stream of so many posts, and measures it from outside."""
    with (
        tempfile.TemporaryDirectory(prefix="klda-ingest-") as folder,
        running("tests.servers.jetstream", str(posts), "0", str(DISTINCT)) as server,
    ):
        assert server.stdout is not None
        home = Path(folder)
        create_monitor(home, int(server.stdout.readline()), keywords)
        command = ("klda", "monitor", "collect", NAME, "--home", str(home), "--format", "json")
        with opened(home, NAME) as monitor, running(*command) as collector:
            watched = psutil.Process(collector.pid)
            memory: list[tuple[float, float, float]] = []
            give_up = time.time() + LIMIT
            while reached(monitor) < posts:
                if collector.poll() is not None or time.time() > give_up:
                    raise RuntimeError(f"the collector stored {reached(monitor)} of {posts} posts and no more")
                for _ in range(4):
                    resident, held = watched.memory_info().rss / 2**20, tree_megabytes(collector.pid)
                    memory.append((time.time(), resident, held))
                    time.sleep(0.25)
            commits, began = Commits.of(monitor), monitor.records.jobs.newest(1)[0].created.timestamp()
            last = max(len(commits.times) - 2, 0)
            speed = commits.posts[last] / (commits.times[last] - began)
            share = monitor.records.volume.total() / posts
    times, *sizes = (np.array(column) for column in zip(*memory, strict=True))
    # how far the stream was when memory was looked at: in proportion between commits
    passed = np.interp(times, [began, *commits.times], [0, *commits.posts]) / posts
    tenth = np.minimum((10 * passed).astype(int), 9)
    by_tenth = [[_median(size, tenth == part) for part in range(10)] for size in sizes]
    return Measured(float(speed), share, by_tenth[0], by_tenth[1], float(sizes[0].max()))


def _median(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    """The median of the chosen values; of all, where a run was too short for any to be chosen."""
    return round(float(np.median(values[chosen] if chosen.any() else values)), 1)


def keyword_lists() -> tuple[list[str], list[str]]:
    """A short list and a long one that match about the same share of the posts.

    The long one has the words of the short one, phrases of frequent words that hardly ever meet, and words that nobody
    uses: a list of thousands matches little with most of them.
    """
    texts = [post.text for post in simulated()]
    few = keywords_for(texts, FEW, SHARE)
    common = keywords_for(texts, 20 * FEW, 0.9, without=few)
    draw = Random(0)
    pairs = dict.fromkeys(" ".join(draw.sample(common, 2)) for _ in range(MANY))
    phrases = list(islice(pairs, (MANY - FEW) // 2))
    unused = [f"{word[::-1]}{n}" for n, word in enumerate(common * MANY)][: MANY - FEW - len(phrases)]
    return few, [*few, *phrases, *unused]


def benchmark(posts: int) -> dict[str, float | list[float]]:
    """What a run with few keywords and one with many show."""
    few, many = keyword_lists()
    long, short = measure(posts, few), measure(min(posts, SHORT), many)
    return {
        "posts": posts,
        "posts_per_second_50": round(long.posts_per_second),
        "posts_per_second_5000": round(short.posts_per_second),
        "memory_growth_mb": round(long.memory[-1] - long.memory[1], 1),
        "memory_held_growth_mb": round(long.memory_held[-1] - long.memory_held[1], 1),
        "memory_peak_mb": round(long.memory_peak),
        "share_50": round(long.share, 3),
        "share_5000": round(short.share, 3),
        "memory_mb": long.memory,
        "memory_held_mb": long.memory_held,
    }


def main() -> None:
    """Runs the benchmark and prints what it measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--posts", type=int, default=1_000_000)
    print(json.dumps(benchmark(parser.parse_args().posts)))


if __name__ == "__main__":
    main()
