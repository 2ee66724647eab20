"""How fast the studio answers while a collector writes: `python -m benchmarks.web`.

`klda serve` serves a monitor of a million posts, with half a year of windows, topics and a proposal that waits.
`klda monitor collect` stores 2,000 posts a second to it, from a Jetstream on loopback. 64 readers ask for one page a
second each: the first page, the monitor, its hours, proposal, history and backtests, jobs, and the API. All four are
processes of their own, all readers one client; 64 requests a second lie below what `StudioSettings.reads_per_second`
lets a client have (200), so nothing is set otherwise. Prints JSON:
  p50_ms, p99_ms      until an answer had come whole, from when its reader was due to ask
  errors, requests    answers that were no success, and all of them
  first_page_ms       the first page before any other request: nothing is warm yet
  posts_per_second    posts that the collector stored, over the time in which it did, from its first commit among the
                      readers to its last
  p99_ms_of           by page
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import httpx
import numpy as np

from benchmarks.processes import running
from benchmarks.readers import PATHS
from benchmarks.studio_home import NAME, make_home
from klda.monitor.monitor import Monitor, opened

POSTS, READERS, PACE, SECONDS = 1_000_000, 64, 2_000, 30
WAITS = 60.0
"""Seconds in which a process must be ready."""


def benchmark(posts: int, seconds: int, *, readers: int = READERS, pace: int = PACE) -> dict[str, Any]:
    """What readers and the collector got done side by side."""
    with tempfile.TemporaryDirectory(prefix="klda-web-") as folder:
        home = Path(folder)
        with running("benchmarks.paced", str(pace)) as stream:
            assert stream.stdout is not None
            make_home(home, int(stream.stdout.readline()), posts)
            with (
                running("klda", "monitor", "collect", NAME, "--home", folder, "--format", "json"),
                running("klda", "serve", "--port", "0", "--home", folder, stderr=subprocess.PIPE) as studio,
                opened(home, NAME) as monitor,
            ):
                _wait_for_posts(monitor, posts)
                address = _address(studio.stderr)
                first = _milliseconds(address)
                for path in PATHS:
                    httpx.get(address + path.format(name=NAME), timeout=WAITS)
                asked = (address, NAME, str(readers), str(seconds))
                with running("benchmarks.readers", *asked) as reading:
                    stored = _stored(monitor, reading)
                    found = json.loads(_read(reading.stdout))
    times = {path: np.array(own) for path, own in found["times"].items() if own}
    every = np.concatenate(list(times.values()))
    return {
        "posts": posts,
        "readers": readers,
        "requests": len(every),
        "errors": len(found["errors"]),
        "p50_ms": round(float(np.quantile(every, 0.5)), 1),
        "p99_ms": round(float(np.quantile(every, 0.99)), 1),
        "first_page_ms": round(first, 1),
        "posts_per_second": round(stored),
        "p99_ms_of": {path: round(float(np.quantile(own, 0.99)), 1) for path, own in times.items()},
        "first_errors": found["errors"][:3],
    }


def _wait_for_posts(monitor: Monitor, before: int) -> None:
    """Returns when the collector has stored something."""
    give_up = time.monotonic() + WAITS
    while monitor.records.volume.total() <= before:
        if time.monotonic() > give_up:
            raise RuntimeError(f"the collector stored nothing in {WAITS:.0f} s")
        time.sleep(0.1)


def _address(lines: IO[str] | None) -> str:
    """Where the studio says that it is."""
    line = _read(lines, whole=False)
    return next(word for word in line.split() if word.startswith("http://")).rstrip("/")


def _read(stream: IO[str] | None, *, whole: bool = True) -> str:
    assert stream is not None
    return stream.read() if whole else stream.readline()


def _milliseconds(address: str) -> float:
    """How long the first page takes."""
    give_up = time.monotonic() + WAITS
    while True:
        began = time.monotonic()
        try:
            httpx.get(address).raise_for_status()
        except httpx.ConnectError:
            if began > give_up:
                raise
            time.sleep(0.05)
        else:
            return 1000 * (time.monotonic() - began)


def _stored(monitor: Monitor, reading: subprocess.Popen[str]) -> float:
    """Posts a second that were stored while the readers read."""
    seen = [(time.monotonic(), monitor.records.volume.total())]
    while reading.poll() is None:
        total = monitor.records.volume.total()
        if total != seen[-1][1]:
            seen.append((time.monotonic(), total))
        time.sleep(0.1)
    if len(seen) < 3:
        return 0.0
    (began, first), (ended, last) = seen[1], seen[-1]  # from one commit to another
    return (last - first) / (ended - began)


def main() -> None:
    """Runs the benchmark and prints what it measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--posts", type=int, default=POSTS)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    given = parser.parse_args()
    print(json.dumps(benchmark(given.posts, given.seconds)))


if __name__ == "__main__":
    main()
