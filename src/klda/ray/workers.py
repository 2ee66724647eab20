"""The workers of a training run on Ray: one process each, which speak through torch.distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

Value = TypeVar("Value")


class Together:
    """What `klda.model.workers.Workers` asks for, in a process group that Ray Train has set up."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        # Small things on the CPU travel by gloo, also where gradients travel by nccl.
        self._talk = dist.new_group(backend="gloo")

    def gather(self, mine: Value) -> list[Value]:
        """What each worker gave, by rank."""
        if self.size == 1:
            return [mine]
        if isinstance(mine, int | float):
            return [array.item() for array in self._alike(np.array([mine]))]
        if isinstance(mine, np.ndarray) and mine.dtype == np.float64:
            return self._alike(mine)  # type: ignore[return-value]  # arrays, as was given
        found: list[Value | None] = [None] * self.size
        dist.all_gather_object(found, mine, group=self._talk)
        return found  # type: ignore[return-value]  # every place has been filled

    def _alike(self, mine: NDArray[Any]) -> list[NDArray[Any]]:
        """Arrays of one shape and type, as they are: packed as objects they would take several times as long."""
        sent = torch.from_numpy(np.ascontiguousarray(mine))
        found = [torch.empty_like(sent) for _ in range(self.size)]
        dist.all_gather(found, sent, group=self._talk)
        return [tensor.numpy() for tensor in found]

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replaces each tensor by its sum over all workers, which is the same on each to the last bit."""
        if self.size == 1:
            return
        # One message instead of many: between two processes of one machine a message costs more than its megabytes.
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        dist.all_reduce(flat)
        start = 0
        for tensor in tensors:
            tensor.copy_(flat[start : start + tensor.numel()].view_as(tensor))
            start += tensor.numel()
