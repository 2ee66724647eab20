"""How time and memory grow with posts, candidates and workers: `python -m benchmarks.scale`.

Posts come from the simulated world (klda.corpus.simulation), drawn and written as Parquet before anything is timed.
Every point runs in processes of its own. Prints JSON:
  linearity        seconds a post of preparation plus one training pass, at a size over those at the size before; the
                   largest of these (1 is linear, below 1 are fixed costs that are spread over more posts)
  peak_memory_mb   RssAnon + RssShmem of all processes of a point, the largest of all points on one machine
  ray_speedup      time of an iteration with one worker over that with two on equal work: twice the batch against two
                   batches at once, one thread a worker
  points           what was measured at each size
  cost             what a billion posts would take, reckoned from the points; prices are assumptions
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.watching import run_watched

POSTS = (100_000, 1_000_000)
ALL_POSTS = (*POSTS, 10_000_000)
CANDIDATES = (40, 400, 4_000, 5_000)
CANDIDATE_POSTS = 200_000
MEMORY = 4 << 30
BATCH = 1024
"""Documents a worker and step on Ray."""

BILLION = 1_000_000_000
CORES = 64
DOLLARS_A_CORE_HOUR = 0.05
"""An assumption: on-demand machines of the large clouds cost about so much a core and hour in 2025."""
DOLLARS_A_GIGABYTE_MONTH = 0.08
DISK_MEGABYTES_A_SECOND = 500
NETWORK_MEGABYTES_A_SECOND = 1_250
"""Assumptions too: a network disk, and ten gigabits between machines."""

Point = dict[str, Any]


def main() -> None:
    """Runs the benchmark and prints what it measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true", help="also 10 million posts")
    parser.add_argument("--posts", type=_numbers, help="other numbers of posts, as 10000,100000")
    parser.add_argument("--candidates", type=_numbers, default=CANDIDATES)
    parser.add_argument("--candidate-posts", type=int, default=CANDIDATE_POSTS, help="posts to choose candidates from")
    parser.add_argument("--iterations", type=int, default=1000, help="of each run on Ray")
    parser.add_argument("--only", choices=["documents", "candidates", "ray"], help="measure one part")
    parser.add_argument("--work", type=Path, help="folder for files of posts and corpora; a temporary one if left out")
    arguments = parser.parse_args()
    posts = arguments.posts or (ALL_POSTS if arguments.full else POSTS)
    with tempfile.TemporaryDirectory(prefix="klda-scale-", dir=arguments.work) as folder:
        work, points = Path(folder), {}
        if arguments.only in (None, "documents"):
            points["documents"] = [document_point(n, work) for n in posts]
        if arguments.only in (None, "candidates"):
            points["candidates"] = candidate_points(arguments.candidates, arguments.candidate_posts, work)
        if arguments.only in (None, "ray"):
            points["ray"] = ray_points(posts[0], arguments.iterations, work)
    print(json.dumps(summary(points), indent=1))


def document_point(posts: int, work: Path) -> Point:
    """Preparation and one training pass at a size; the corpus of the smallest stays for Ray."""
    file, folder = work / f"{posts}.parquet", work / f"corpus-{posts}"
    simulation = measured({"kind": "simulate", "posts": posts, "file": str(file)})
    point = measured({"kind": "documents", "posts": posts, "file": str(file), "folder": str(folder), "memory": MEMORY})
    return point | {"simulation_seconds": simulation["seconds"], "archive_megabytes": simulation["megabytes"]}


def candidate_points(candidates: Sequence[int], posts: int, work: Path) -> list[Point]:
    """Advice among more and more candidates, from the same posts."""
    file = work / "candidates.parquet"
    measured({"kind": "simulate", "posts": posts, "file": str(file)})
    return [measured({"kind": "choice", "n_candidates": n, "file": str(file)}) for n in candidates]


def ray_points(posts: int, iterations: int, work: Path) -> list[Point]:
    """One worker with a double batch, two workers with a batch each, one worker with a batch."""
    folder = work / f"corpus-{posts}"
    if not folder.exists():
        document_point(posts, work)
    cases = ((1, 2 * BATCH), (2, BATCH), (1, BATCH))
    common = {"kind": "ray", "folder": str(folder), "iterations": iterations}
    return [measured(common | {"workers": workers, "batch": batch}) for workers, batch in cases]


def measured(point: Point) -> Point:
    """What was measured at a point, with the peak memory of its processes."""
    found, peak = run_watched("benchmarks.scale_points", point)
    print(json.dumps(found | {"peak_memory_mb": round(peak)}), file=sys.stderr, flush=True)
    return found | {"peak_memory_mb": round(peak)}


def summary(points: dict[str, list[Point]]) -> Point:
    """The figures that are held against targets, the points, and what follows from them."""
    here = [point["peak_memory_mb"] for kind in ("documents", "candidates") for point in points.get(kind, [])]
    found: Point = {
        "linearity": linearity(points.get("documents", [])),
        "peak_memory_mb": max(here, default=None),
        "ray_speedup": None,
        "memory_setting_mb": MEMORY >> 20,
        "cores": os.cpu_count(),
    }
    if "ray" in points:
        double, together, alone = (point["iteration_milliseconds"] for point in points["ray"])
        found["ray_speedup"] = round(double / together, 2)
        found["communication"] = {
            "compute_milliseconds_a_step": alone,
            "communication_milliseconds_a_step": round(together - alone, 2),
            "gradient_megabytes": points["ray"][0]["gradient_megabytes"],
        }
    if "documents" in points:
        found["cost"] = cost(points["documents"][-1], found.get("communication"))
    return found | {"points": points}


def linearity(points: Sequence[Point]) -> float | None:
    """Seconds a post at a size over those at the size before, the largest."""
    rates = [point["total_seconds"] / point["posts"] for point in points]
    return round(max(later / earlier for earlier, later in pairwise(rates)), 3) if len(rates) > 1 else None


def cost(point: Point, communication: Point | None) -> Point:
    """What a billion posts would take, if every post takes what it took at the largest size."""
    cores, posts, seconds = os.cpu_count() or 1, point["posts"], point["seconds"]
    core_seconds = {  # a post
        "prepare": seconds["prepare"] * cores / posts,
        "train": (seconds["load"] + seconds["start"] + seconds["train"]) / posts,  # on one thread
    }
    core_hours = {stage: BILLION * value / 3600 for stage, value in core_seconds.items()}
    disk = point["disk_megabytes"] / posts  # megabytes a post
    busy = {
        "processors": BILLION * core_seconds["prepare"] / CORES / 3600,
        "disk": 2 * BILLION * disk / DISK_MEGABYTES_A_SECOND / 3600,  # written as parts and again as shards
    }
    found: Point = {
        "posts": BILLION,
        "core_hours": {stage: round(value) for stage, value in core_hours.items()},
        "hours_on_one_machine_of_cores": {str(CORES): round(sum(core_hours.values()) / CORES, 1)},
        "dollars": round(sum(core_hours.values()) * DOLLARS_A_CORE_HOUR),
        "disk_gigabytes": round(BILLION * disk / 1000),
        "disk_dollars_a_month": round(BILLION * disk / 1000 * DOLLARS_A_GIGABYTE_MONTH),
        "hours_of_preparation_by_resource": {name: round(value, 2) for name, value in busy.items()},
        "binds": max(busy, key=lambda name: busy[name]),
        "assumptions": {
            "dollars_a_core_hour": DOLLARS_A_CORE_HOUR,
            "dollars_a_gigabyte_month": DOLLARS_A_GIGABYTE_MONTH,
            "disk_megabytes_a_second": DISK_MEGABYTES_A_SECOND,
            "network_megabytes_a_second": NETWORK_MEGABYTES_A_SECOND,
        },
    }
    if communication is not None:
        wire = 1000 * 2 * communication["gradient_megabytes"] / NETWORK_MEGABYTES_A_SECOND
        found["network_milliseconds_a_step_at_most"] = round(wire, 1)
        found["compute_milliseconds_a_step"] = communication["compute_milliseconds_a_step"]
    return found


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
