"""Cases on all cores of one machine: the default `map` of a backtest."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from typing import Any


def process_map(workers: int | None = None) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """A `map` over processes that yields results as they end; each process computes with one thread."""
    return partial(_map, workers or os.cpu_count() or 1)


def _map(workers: int, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    jobs = list(tasks)
    if workers == 1 or len(jobs) <= 1:
        yield from map(function, jobs)
        return
    # Spawned, not forked: torch and Arrow have threads that a fork would lose.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context, initializer=one_thread) as pool:
        waiting = [pool.submit(function, job) for job in jobs]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def one_thread() -> None:
    """Makes this process compute with one thread: processes share the cores, and more would only fight."""
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    torch.set_num_threads(1)
    threadpool_limits(1)  # NumPy's and SciPy's own
