"""Many small pieces of work as Ray tasks: a `map` like any other, on all nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from klda.errors import KldaError

RETRIES = 5
"""How often a task is done again when its node or process is lost."""


def task_map(*, ordered: bool = False) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """A `map` over Ray tasks that yields results as they end, or in the order of tasks; one thread each."""
    return partial(_map, ordered)


def _map(ordered: bool, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    # Ray gives a task of one CPU one thread.
    job = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_run)
    shared = ray.put(function)  # once a node, not once a task
    waiting = [job.remote(shared, task) for task in tasks]
    try:
        while waiting:
            done = waiting[:1] if ordered else ray.wait(waiting)[0]
            waiting = [ref for ref in waiting if ref not in done]
            yield from ray.get(done)
    except RayError as error:
        raise own_error(error) from error
    finally:
        for ref in waiting:
            ray.cancel(ref)


def _run(function: Callable[[Any], Any], task: Any) -> Any:
    return function(task)


def own_error(error: BaseException) -> BaseException:
    """The error of ours that a task raised, out of Ray's wrappers; the error itself where there is none."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, KldaError) and not isinstance(inner, RayTaskError):
            return inner
        inner = getattr(inner, "cause", None) or inner.__cause__
    return error
