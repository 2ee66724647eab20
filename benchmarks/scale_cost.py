"""What a billion posts would take: a cost model fitted to the points of `benchmarks.scale`.

What a stage takes is a + b · posts, in processor seconds; a and b are fitted by least squares of relative errors, so
that the small points count as much as the large ones. Stages that work on all cores are divided by them; on one machine
one process reads, joins and trains, on Ray every core does. Prices and the speed of disk and network are assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

BILLION = 1_000_000_000
CORES = 16
"""Of one machine, or of all machines of a cluster together."""
DOLLARS_A_CORE_HOUR = 0.05
"""On-demand machines of the large clouds cost about so much in 2025."""
DOLLARS_A_GIGABYTE_MONTH = 0.08
DISK_MEGABYTES_A_SECOND = 500
NETWORK_MEGABYTES_A_SECOND = 1_250
"""One network disk for all, and ten gigabits between machines."""
DISK_PASSES = 4
"""Parts are written and read, shards are written and read."""
BYTES_A_DOCUMENT = 25
"""What training holds beyond its batch, see docs/explanation/scale.md; preparation holds what its setting says."""

Point = dict[str, Any]
Value = Callable[[Point], float]

STAGES: dict[str, Value] = {
    "prepare": lambda point: float(point["processor_seconds"]["prepare"]),
    "read": lambda point: float(point["reading_seconds"]),
    "join": lambda point: float(point["processor_seconds"]["load"] + point["processor_seconds"]["start"]),
    "train": lambda point: float(point["processor_seconds"]["train"]),
    "disk_megabytes": lambda point: float(point["disk_megabytes"]),
}
"""What is fitted: processor seconds of a stage (`read` is a part of `prepare`), and space on disk."""


def cost(points: Sequence[Point], communication: Point | None) -> Point:
    """Hours and dollars of a billion posts, what binds them, and how well the model fits its points."""
    model = {name: fitted(points, value) for name, value in STAGES.items()}
    whole = {name: start + slope * BILLION for name, (start, slope) in model.items()}
    hours = {stage: whole[stage] / 3600 for stage in ("prepare", "read", "join", "train")}
    documents = points[-1]["documents"] / points[-1]["posts"]
    disk = DISK_PASSES * whole["disk_megabytes"] / DISK_MEGABYTES_A_SECOND / 3600
    here = {
        "all cores, preparing": hours["prepare"] / CORES,
        "the process that reads": hours["read"],
        "the process that joins": hours["join"],
        "the process that trains": hours["train"],
        "disk": disk,
    }
    at_work = efficiency(communication)
    there = {
        "all cores, preparing": hours["prepare"] / CORES,
        "all cores, joining": hours["join"] / CORES,
        "all cores, training": hours["train"] / CORES / at_work,
        "disk": disk,
    }
    one_machine = max(here["all cores, preparing"], here["the process that reads"]) + hours["join"] + hours["train"]
    on_ray = max(sum(there.values()) - disk, disk)
    return {
        "posts": BILLION,
        "model": {
            name: {"start": round(start, 2), "a_million_posts": round(1e6 * slope, 2), "largest_error": round(off, 3)}
            for name, (start, slope) in model.items()
            for off in [error(points, STAGES[name], start, slope)]
        },
        "core_hours": {stage: round(hours[stage], 2) for stage in ("prepare", "join", "train")},
        "one_machine": _bill(here, max(one_machine, disk)),
        "ray": _bill(there, on_ray) | {"share_of_a_step_that_computes": round(at_work, 2)},
        "disk_gigabytes": round(whole["disk_megabytes"] / 1000),
        "disk_dollars_a_month": round(whole["disk_megabytes"] / 1000 * DOLLARS_A_GIGABYTE_MONTH),
        "training_memory_gigabytes": round(BYTES_A_DOCUMENT * BILLION * documents / 1e9, 1),
        "assumptions": {
            "cores": CORES,
            "dollars_a_core_hour": DOLLARS_A_CORE_HOUR,
            "dollars_a_gigabyte_month": DOLLARS_A_GIGABYTE_MONTH,
            "disk_megabytes_a_second": DISK_MEGABYTES_A_SECOND,
            "network_megabytes_a_second": NETWORK_MEGABYTES_A_SECOND,
        },
    }


def _bill(resources: dict[str, float], hours: float) -> Point:
    return {
        "hours": round(hours, 2),
        "dollars": round(hours * CORES * DOLLARS_A_CORE_HOUR, 2),
        "binds": max(resources, key=lambda name: resources[name]),
        "hours_of_resources": {name: round(value, 2) for name, value in resources.items()},
    }


def efficiency(communication: Point | None) -> float:
    """The share of a step in which a worker computes: messages as measured, gradients over the assumed network."""
    if communication is None:
        return 1.0
    compute = float(communication["compute_milliseconds_a_step"])
    wire = 1000 * 2 * float(communication["gradient_megabytes"]) / NETWORK_MEGABYTES_A_SECOND
    return compute / (compute + max(0.0, float(communication["communication_milliseconds_a_step"])) + wire)


def fitted(points: Sequence[Point], value: Value) -> tuple[float, float]:
    """What a stage takes at its start and for each post; neither is negative."""
    seen = [(point["posts"], value(point)) for point in points if value(point)]
    terms = np.array([[1.0 / taken, posts / taken] for posts, taken in seen]).reshape(-1, 2)
    start, slope = nnls(terms, np.ones(len(seen)))[0].tolist() if seen else (0.0, 0.0)
    return start, slope


def error(points: Sequence[Point], value: Value, start: float, slope: float) -> float:
    """The largest relative error of the model at the points beyond the first, which is only a start."""
    off = [abs((start + slope * point["posts"]) / value(point) - 1) for point in points[1:] if value(point)]
    return float(max(off, default=0.0))
