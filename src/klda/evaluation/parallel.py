"""Cases on all cores of one machine: the default `map` of a backtest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from typing import Any

from klda.text.processes import spawned

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def process_map(workers: int | None = None) -> Map:
    """A `map` over processes that yields results as they end; each process computes with one thread."""
    return partial(_map, workers or os.cpu_count() or 1)


@contextmanager
def process_pool(workers: int | None = None) -> Iterator[Map]:
    """The same over processes that stay: threads that share it never have more tasks under way than processes."""
    with spawned(workers or os.cpu_count() or 1, one_thread) as pool:
        yield partial(_submitted, pool)


def _map(workers: int, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    jobs = list(tasks)
    if workers == 1 or len(jobs) <= 1:
        yield from map(function, jobs)
        return
    with process_pool(min(workers, len(jobs))) as spread:
        yield from spread(function, jobs)


def _submitted(pool: ProcessPoolExecutor, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    waiting = [pool.submit(function, task) for task in tasks]
    try:
        for future in as_completed(waiting):
            yield future.result()
    finally:
        for future in waiting:
            future.cancel()


def one_thread() -> None:
    """Makes this process compute with one thread, because several processes share the cores."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1)  # NumPy's and SciPy's own
