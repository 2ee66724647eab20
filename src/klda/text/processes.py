"""Worker processes, which end with this process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from klda.errors import KldaError

_CTRL_C = frozenset({signal.SIGINT})


@contextmanager
def spawned(workers: int, prepare: Callable[[], None]) -> Iterator[ProcessPoolExecutor]:
    """A pool of worker processes. Each calls `prepare` first, and all end with this process, even if it is killed."""
    # Spawned, not forked: torch, Arrow and Polars have threads that a fork would lose.
    context = multiprocessing.get_context("spawn")
    try:
        with _Pool(workers, mp_context=context, initializer=_begin, initargs=(prepare,)) as pool:
            yield pool
    except BrokenProcessPool as error:
        raise KldaError(
            f"one of {workers} processes was ended from outside, perhaps for lack of memory; "
            "lower --workers, or --memory where it is given"
        ) from error


class _Pool(ProcessPoolExecutor):
    """Processes that Ctrl-C stops only while they run a task. At other times each would print a traceback."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)  # a process that starts inherits it
        try:
            return super().submit(_interruptible, fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interruptible(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of the function. After Ctrl-C, tasks that are already queued do not start."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)
        return fn(*args, **kwargs)
    except KeyboardInterrupt:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
        signal.raise_signal(signal.SIGINT)  # held back until the next task
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)


def _begin(prepare: Callable[[], None]) -> None:
    # A killed parent cannot stop its workers; without this they would wait for ever, and keep their memory.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
