"""Processes that work beside this one, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor


def spawned(workers: int, prepare: Callable[[], None]) -> ProcessPoolExecutor:
    """A pool of so many processes, each of which calls `prepare` first; they end with this one, however it ends."""
    # Spawned, not forked: torch, Arrow and Polars have threads that a fork would lose.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(prepare,))


def _begin(prepare: Callable[[], None]) -> None:
    # Who was killed cannot tell its processes; they would wait for work for ever, with all that they have loaded.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
