"""Connections to Ray, on a running cluster or on this machine; and a `map` that runs as Ray tasks."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from klda.errors import KldaError, SettingError
from klda.extras import require

OBJECT_STORE = 512 << 20
"""Bytes of shared memory for a Ray that klda starts; Ray spills the rest to disk."""
ANSWER_WITHIN = 5.0
"""Seconds in which a cluster must answer."""

RETRIES = 5
"""How often a task is repeated after its node or process was lost."""

_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is sent anywhere
    "RAY_enable_metrics_collection": "0",
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",  # a checkpoint waits for the next check
}
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"), "1")


@contextmanager
def connected(address: str | None = None, *, cpus: int | None = None) -> Iterator[None]:
    """A connection to the Ray cluster at `address` (host:port, or auto for the one on this machine).

    Without an address, Ray is started here with `cpus` workers (by default one for each core), and stopped afterwards.
    An existing connection is used, and stays open.
    """
    require("ray", "the engine ray")
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield
        return
    _check(address)
    here: dict[str, Any] = {"num_cpus": cpus, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    try:
        ray.init(
            address="local" if address is None else address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": _ONE_THREAD},  # Ray runs one process for each core
            **(here if address is None else {}),
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _no_answer(address, error) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check(address: str | None) -> None:
    """Raises SettingError if nothing answers at an address; Ray itself would wait for a minute."""
    if address in (None, "auto"):
        return
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal()):
        raise SettingError(f"--address {address!r}: write host:port, or auto for the cluster on this machine")
    try:
        with socket.create_connection((host, int(port)), timeout=ANSWER_WITHIN):
            pass
    except (OSError, OverflowError) as error:
        raise _no_answer(address, error) from error


def _no_answer(address: str | None, error: Exception) -> SettingError:
    if address is None:
        return SettingError(f"Ray cannot be started on this machine ({error}); use --engine local")
    return SettingError(
        f"--address {address}: no Ray cluster answers there ({error}); start one with `ray start --head`"
    )


def task_map(*, ordered: bool = False) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """A `map` that runs as Ray tasks with one thread each; results come as tasks end, or in the order of tasks."""
    return partial(_map, ordered)


def _map(ordered: bool, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    import ray
    from ray.exceptions import RayError

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
    """The KldaError that a task raised, without Ray's wrappers; for other errors the error itself."""
    from ray.exceptions import RayTaskError

    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, KldaError) and not isinstance(inner, RayTaskError):
            return inner
        inner = getattr(inner, "cause", None) or inner.__cause__
    return error
