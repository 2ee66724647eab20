from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing

from klda.ray.training import Together


def given(rank: int) -> list[Any]:
    """Something of every kind that workers tell each other."""
    return [rank + 2**60, rank / 3, np.array([rank, 0.1]), np.arange(rank + 1), None if rank else "a reason"]


def speak(rank: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    workers = Together()
    heard = [workers.gather(mine) for mine in given(rank)]
    tensors = [torch.full((3,), rank + 1.0), torch.tensor([10.0 * rank])]
    workers.add_up(tensors)
    torch.save([heard, tensors], f"{folder}/{rank}.pt")
    dist.destroy_process_group()


def test_workers_hear_what_each_gave_and_add_up_the_same(tmp_path: Path):
    torch.multiprocessing.spawn(speak, args=(str(tmp_path),), nprocs=2)
    for rank in range(2):
        heard, tensors = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        for found, *wanted in zip(heard, given(0), given(1), strict=True):
            assert [type(one) for one in found] == [type(one) for one in wanted]
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, other)
        assert [tensor.tolist() for tensor in tensors] == [[3.0] * 3, [10.0]]
