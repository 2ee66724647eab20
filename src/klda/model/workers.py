"""The workers of a training: one process alone, or several that each hold a part of the documents of one model.

Training asks its `Workers` for the few things that depend on the documents of all: sums over a batch, random draws in
step, the sum of gradients. A single worker gets back its own values, so there is one trainer and no second loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from klda.errors import KldaError
from klda.text.documents import offsets

Value = TypeVar("Value")


class Workers(Protocol):
    """The workers of a run, as one of them sees them; every one must ask the same things in the same order."""

    @property
    def rank(self) -> int:
        """Which of the workers this is, from 0."""
        ...

    @property
    def size(self) -> int:
        """How many workers there are."""
        ...

    def gather(self, mine: Value) -> list[Value]:
        """The values of all workers, by rank; all of one type, and arrays of floats of one shape."""
        ...

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replaces each tensor by its sum over all workers."""
        ...


class Alone:
    """One worker that holds all documents."""

    rank, size = 0, 1

    def gather(self, mine: Value) -> list[Value]:
        """A list of its own value alone."""
        return [mine]

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Nothing is to be added."""


ALONE = Alone()


def total(workers: Workers, mine: Value) -> Value:
    """The sum over all workers of a number or an array; the same on each of them, to the last bit.

    >>> total(ALONE, 2.5)
    2.5
    """
    return reduce(add, workers.gather(mine))


def in_step(workers: Workers, work: Callable[[], Value]) -> Value:
    """The result of this worker's work. If one worker fails with an error of klda, all raise it, so that none waits.

    >>> in_step(ALONE, lambda: 2.5)
    2.5
    """
    problem: KldaError | None = None
    try:
        result = work()
    except KldaError as error:
        problem = error
    for found in workers.gather(problem):
        if found is not None:
            raise found
    return result


def mean(workers: Workers) -> Callable[[Tensor], Tensor]:
    """The mean over the elements of all workers' tensors."""
    if workers.size == 1:
        return torch.mean

    def of_all(mine: Tensor) -> Tensor:
        both = total(workers, np.array([float(mine.sum()), mine.numel()]))
        return mine.new_tensor(both[0] / max(both[1], 1.0))

    return of_all


class WorkerDraws:
    """Uniform draws for the documents of one worker: its part of the draws that a single worker would make.

    >>> alone = WorkerDraws(ALONE, np.random.default_rng(0)).random((2, 3))
    >>> bool((alone == np.random.default_rng(0).random((2, 3))).all())
    True
    """

    def __init__(self, workers: Workers, generator: np.random.Generator) -> None:
        self._workers, self._generator = workers, generator

    def random(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        """WorkerDraws between 0 and 1; the last axis runs along what the worker holds."""
        mine, size = place(self._workers, shape[1])
        return self._generator.random((shape[0], size))[:, mine]


def place(workers: Workers, n: int) -> tuple[slice, int]:
    """The places of this worker's n items among the items of all workers, by rank, and the total number of items.

    >>> place(ALONE, 5)
    (slice(0, 5, None), 5)
    """
    start = offsets(np.array(workers.gather(n)))
    return slice(int(start[workers.rank]), int(start[workers.rank + 1])), int(start[-1])
