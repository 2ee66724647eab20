"""How time and memory grow with posts, candidates and workers: `python -m benchmarks.scale`.

Posts come from the simulated world (klda.simulation), drawn and written as Parquet before anything is timed.
Every point runs in processes of its own. With `--work`, points stay in that folder, and a run that was stopped goes on
with those that are missing. Prints JSON:
  linearity        by how much seconds a post (of preparation plus one training pass) grow from a size to a larger one,
                   at most; 1 is linear, less is a post that is cheaper among many. The start of the processes, which
                   a point of 1,000 posts measures, is taken off, so that it does not flatter the larger sizes;
                   linearity_with_start leaves it in, linearity_of_processor_time is disturbed less by other work
  peak_memory_mb   RssAnon + RssShmem of all processes of a point, the largest of all points on one machine
  ray_speedup      time of an iteration with one worker over that with two on equal work: twice the batch against two
                   batches at once, one thread a worker; of the larger batch, communication has both
  points           what was measured at each size
  cost             what a billion posts would take, from a model fitted to the points (benchmarks.scale_cost)
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import combinations
from pathlib import Path

from benchmarks.scale_cost import Point, cost
from benchmarks.watching import run_watched

START_POSTS = 1_000
"""So few that what they take is what starting takes."""
SMALL, SMALL_TIMES = 100_000, 3
"""Up to so many posts a point takes seconds and is disturbed easily: the middle of so many is taken."""
POSTS = (100_000, 1_000_000)
ALL_POSTS = (*POSTS, 10_000_000)
CANDIDATES = (40, 400, 4_000, 5_000)
CANDIDATE_POSTS = 200_000
MEMORY = 4 << 30
BATCHES = (1024, 4096)
"""Documents a worker and step on Ray; figures are of the last, since a corpus that needs several machines bears it."""


def main() -> None:
    """Runs the benchmark and prints what it measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true", help="also 10 million posts")
    parser.add_argument("--posts", type=_numbers, help="other numbers of posts, as 10000,100000")
    parser.add_argument("--candidates", type=_numbers, default=CANDIDATES)
    parser.add_argument("--candidate-posts", type=int, default=CANDIDATE_POSTS, help="posts to choose candidates from")
    parser.add_argument("--iterations", type=int, default=200, help="of each run on Ray")
    parser.add_argument("--only", choices=["documents", "candidates", "ray"], help="measure one part")
    parser.add_argument("--work", type=Path, help="folder that keeps points; a temporary one if left out")
    arguments = parser.parse_args()
    posts = arguments.posts or (ALL_POSTS if arguments.full else POSTS)
    kept = nullcontext(str(arguments.work)) if arguments.work else tempfile.TemporaryDirectory(prefix="klda-scale-")
    with kept as folder:
        work, points = Path(folder), {}
        if arguments.only in (None, "documents"):
            points["documents"] = [document_point(n, work) for n in (START_POSTS, *posts)]
        if arguments.only in (None, "candidates"):
            points["candidates"] = candidate_points(arguments.candidates, arguments.candidate_posts, work)
        if arguments.only in (None, "ray"):
            points["ray"] = ray_points(posts[0], arguments.iterations, work)
    print(json.dumps(summary(points), indent=1))


def document_point(posts: int, work: Path) -> Point:
    """Preparation and one training pass at a size; posts and corpus go afterwards."""
    file, folder = work / f"{posts}.parquet", work / f"corpus-{posts}"
    point = {"kind": "documents", "posts": posts, "file": str(file), "folder": str(folder), "memory": MEMORY}

    def measure() -> Point:
        simulation = simulated(posts, file)
        times = SMALL_TIMES if posts <= SMALL else 1
        found = sorted((measured(point) for _ in range(times)), key=elapsed)[times // 2]
        file.unlink()
        shutil.rmtree(folder)
        return found | {"simulation_seconds": simulation["seconds"], "archive_megabytes": simulation["megabytes"]}

    return once(point, work, measure)


def candidate_points(candidates: Sequence[int], posts: int, work: Path) -> list[Point]:
    """Advice among more and more candidates, from the same posts."""
    file = work / "candidates.parquet"

    def measure(point: Point) -> Point:
        if not file.exists():
            simulated(posts, file)
        return measured(point)

    points = [{"kind": "choice", "n_candidates": n, "posts": posts, "file": str(file)} for n in candidates]
    found = [once(point, work, partial(measure, point)) for point in points]
    file.unlink(missing_ok=True)
    return found


def ray_points(posts: int, iterations: int, work: Path) -> list[Point]:
    """For each batch: one worker with a double one, two workers with one each, one worker with one."""
    file, folder = work / f"{posts}.parquet", work / f"ray-{posts}"

    def measure(point: Point) -> Point:
        if not folder.exists():
            simulated(posts, file)
            measured({"kind": "documents", "posts": posts, "file": str(file), "folder": str(folder), "memory": MEMORY})
            file.unlink()
        return measured(point)

    cases = [case for batch in BATCHES for case in ((1, 2 * batch), (2, batch), (1, batch))]
    common = {"kind": "ray", "folder": str(folder), "iterations": iterations}
    points = [common | {"workers": workers, "batch": batch} for workers, batch in cases]
    found = [once(point, work, partial(measure, point)) for point in points]
    shutil.rmtree(folder, ignore_errors=True)
    return found


def once(point: Point, work: Path, measure: Callable[[], Point]) -> Point:
    """What is measured at a point, or what the folder has of it from an earlier run."""
    sizes = [f"{name}-{value}" for name, value in point.items() if isinstance(value, int)]
    path = work / "points" / f"{'-'.join([point['kind'], *sizes])}.json"
    if not path.exists():
        found = measure()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def simulated(posts: int, file: Path) -> Point:
    """Posts of the simulated world, written to a file."""
    return measured({"kind": "simulate", "posts": posts, "file": str(file)})


def measured(point: Point) -> Point:
    """What was measured at a point, with the peak memory of its processes."""
    found, peak = run_watched("benchmarks.scale_points", point)
    print(json.dumps(found | {"peak_memory_mb": round(peak)}), file=sys.stderr, flush=True)
    return found | {"peak_memory_mb": round(peak)}


def summary(points: dict[str, list[Point]]) -> Point:
    """The figures that are held against targets, the points, and what follows from them."""
    here = [point["peak_memory_mb"] for kind in ("documents", "candidates") for point in points.get(kind, [])]
    documents = points.get("documents", [])
    found: Point = {
        "linearity": linearity(documents, elapsed),
        "linearity_with_start": linearity(documents, elapsed, start=True),
        "linearity_of_processor_time": linearity(documents, processor),
        "peak_memory_mb": max(here, default=None),
        "ray_speedup": None,
        "memory_setting_mb": MEMORY >> 20,
        "cores": len(os.sched_getaffinity(0)),
    }
    if "ray" in points:
        steps = [communication(*points["ray"][i : i + 3]) for i in range(0, len(points["ray"]), 3)]
        found["ray_speedup"], found["communication"] = steps[-1]["speedup"], steps
    if len(documents) > 1:
        found["cost"] = cost(documents, found["communication"][-1] if "ray" in points else None)
    return found | {"points": points}


def communication(double: Point, together: Point, alone: Point) -> Point:
    """What two workers gain over one on equal work, and what of a step they spend on each other."""
    step, speaking = together["iteration_milliseconds"], together["communication_milliseconds"]
    return {
        "batch": together["batch"],
        "speedup": round(double["iteration_milliseconds"] / step, 2),
        "compute_milliseconds_a_step": round(step - speaking, 2),
        "compute_milliseconds_a_step_alone": alone["iteration_milliseconds"],
        "communication_milliseconds_a_step": speaking,
        "gradient_megabytes": together["gradient_megabytes"],
    }


def linearity(points: Sequence[Point], seconds: Callable[[Point], float], *, start: bool = False) -> float | None:
    """By how much the seconds of a post grow from a size to any larger one, at most.

    What the first point took for its few posts is the start, and is taken off unless it is to stay in.
    """
    first, *others = points or [{}]
    if len(others) < 2:
        return None
    free, few = (0.0, 0) if start else (seconds(first), first["posts"])
    rates: list[float] = [(seconds(point) - free) / (point["posts"] - few) for point in others]
    return round(max(later / earlier for earlier, later in combinations(rates, 2)), 3)


def elapsed(point: Point) -> float:
    """Seconds of preparation plus one training pass."""
    return float(sum(point["seconds"].values()))


def processor(point: Point) -> float:
    """Processor seconds of the same."""
    return float(sum(point["processor_seconds"].values()))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
