"""Workers of one training run in the threads of one process, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import torch
from torch import Tensor

from klda.model.data import recency_weights
from klda.model.trainer import own_stretch
from klda.model.workers import Workers
from klda.text.corpus import Corpus


class Table:
    """A table at which several workers, one a thread, lay down what they have and look at what the others have."""

    def __init__(self, size: int) -> None:
        self.barrier, self.places = Barrier(size, timeout=60), [None] * size


class InThread:
    def __init__(self, rank: int, size: int, table: Table) -> None:
        self.rank, self.size, self._table = rank, size, table

    def gather(self, mine: Any) -> list[Any]:
        self._table.places[self.rank] = mine
        self._table.barrier.wait()
        found = list(self._table.places)
        self._table.barrier.wait()
        return found

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        everyone = self.gather([tensor.clone() for tensor in tensors])
        for tensor, *parts in zip(tensors, *everyone, strict=True):
            tensor.copy_(torch.stack(parts).sum(0))


def together(size: int, work: Callable[[Workers], Any]) -> list[Any]:
    """What so many workers give, each in a thread; an error of one frees the others."""
    table = Table(size)

    def one(rank: int) -> Any:
        try:
            return work(InThread(rank, size, table))
        except BaseException:
            table.barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        return [future.result() for future in [pool.submit(one, rank) for rank in range(size)]]


def own(corpus: Corpus, workers: Workers, half_life: float | None = None) -> Corpus:
    """What one of several workers holds."""
    return corpus.take(own_stretch(recency_weights(corpus.documents.window, half_life), workers))
