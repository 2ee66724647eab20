"""Training on Ray Train: the trainer of one machine, in several processes that each hold a part of the documents.

With n workers a run equals one on a single machine with an n-fold batch. The folders of the corpus and of the run must
be the same for all nodes: a shared file system.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import ray.train
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from ray._private import state
from ray.train.torch import TorchTrainer
from torch import Tensor

import klda.errors
from klda.errors import InputError, KldaError, SettingError, TrainingError
from klda.evaluation.parallel import one_thread
from klda.model.checkpoint import RAY, TRAINED, is_ray_run
from klda.model.data import recency_weights
from klda.model.klda import KLDA
from klda.model.trainer import own_stretch
from klda.model.workers import in_step
from klda.text.corpus import Corpus
from klda.text.shards import load_corpus

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


ERROR = "error.json"
"""What a run without a model leaves beside its folder: why there is none."""
MAX_FAILURES = 5
"""Lost nodes or processes after which a run gives up."""


def train(
    model: KLDA,
    corpus: Path,
    folder: Path,
    *,
    workers: int = 1,
    resume: bool = False,
) -> KLDA:
    """The model, trained by so many workers on the corpus in a folder; checkpoints are kept under `folder`.

    A worker or node that is lost is replaced, and all go on from the last checkpoint.
    """
    storage = folder.resolve()
    run = storage / RAY
    if run.exists() and not is_ray_run(run):
        raise InputError(f"{run}: exists and is not a model; choose another folder than {folder}")
    on_gpu = str(model.device).startswith("cuda")
    _check_room(workers, "GPU" if on_gpu else "CPU")
    if not resume:
        shutil.rmtree(run, ignore_errors=True)
    storage.mkdir(parents=True, exist_ok=True)
    (storage / ERROR).unlink(missing_ok=True)
    trainer = TorchTrainer(
        _train,
        train_loop_config={"model": model.get_params(), "corpus": str(corpus.resolve()), "folder": str(storage)},
        scaling_config=ray.train.ScalingConfig(num_workers=workers, use_gpu=on_gpu, placement_strategy="SPREAD"),
        run_config=ray.train.RunConfig(
            name=RAY,
            storage_path=str(storage),
            failure_config=ray.train.FailureConfig(max_failures=MAX_FAILURES),
            checkpoint_config=ray.train.CheckpointConfig(num_to_keep=2),
            logging_config=ray.train.LoggingConfig(log_level="ERROR"),  # type: ignore[call-arg]  # typed as before v2
        ),
    )
    try:
        with _interrupts_as_before():
            trainer.fit()
    except ray.train.TrainingFailedError as error:
        raise TrainingError(f"training on Ray gave up after {MAX_FAILURES} failures: {error}") from error
    problem = storage / ERROR
    if problem.exists():
        found = json.loads(problem.read_text(encoding="utf-8"))
        problem.unlink()
        raise getattr(klda.errors, found["type"])(found["message"])
    return KLDA.load(run / TRAINED, device=model.device)


def _check_room(workers: int, kind: str) -> None:
    """Refuses more workers than the cluster has room for: Ray would wait for more nodes, and say nothing."""
    resources: Callable[[], dict[str, float]] = ray.cluster_resources  # which has no types
    there = resources().get(kind, 0)
    # Ray has no public way to ask how far a cluster grows by itself, and its earlier versions have none at all.
    growth: Callable[[], dict[str, float] | None] = getattr(state.state, "get_max_resources_from_cluster_config", dict)
    room = int(max(there, (growth() or {}).get(kind, 0)))
    if workers > room:
        raise SettingError(
            f"--workers {workers}: each needs a {kind} and the cluster has {room}; use fewer, or add nodes to it"
        )


@contextmanager
def _interrupts_as_before() -> Iterator[None]:
    """Ctrl-C means afterwards what it meant before: Ray Train would go on catching it for a run that is over."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _train(config: dict[str, Any]) -> None:
    """What each worker does."""
    one_thread()
    workers = Together()
    model, folder = KLDA(**config["model"]), Path(config["folder"])
    try:
        corpus = in_step(workers, lambda: _own_part(workers, Path(config["corpus"]), model.half_life))
        model.fit(corpus, checkpoint=ReportedCheckpoints(workers.rank), workers=workers)
    except KldaError as error:
        # Every worker comes here (what one alone may meet is done `in_step`), and trying again would not help: the
        # error is the result.
        if workers.rank == 0:
            problem = {"type": type(error).__name__, "message": str(error)}
            (folder / ERROR).write_text(json.dumps(problem), encoding="utf-8")
        return
    if workers.rank == 0:
        model.save(folder / RAY / TRAINED)


def _own_part(workers: Together, folder: Path, half_life: float | None) -> Corpus:
    """The documents of this worker."""
    return load_corpus(folder, lambda window: own_stretch(recency_weights(window, half_life), workers))


class ReportedCheckpoints:
    """Checkpoints that all workers hand to Ray Train, which keeps them as one."""

    def __init__(self, rank: int) -> None:
        self._rank = rank

    @contextmanager
    def latest(self) -> Iterator[Path | None]:
        """The last checkpoint that every worker handed in."""
        checkpoint = ray.train.get_checkpoint()
        if checkpoint is None:
            yield None
            return
        with checkpoint.as_directory() as folder:
            yield Path(folder)

    @contextmanager
    def next(self, iteration: int) -> Iterator[Path]:
        """A folder of this worker, which Ray Train puts together with those of the others."""
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
            ray.train.report({"iteration": iteration}, checkpoint=ray.train.Checkpoint.from_directory(folder))
