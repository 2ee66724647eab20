"""Training on Ray Train: the trainer of a single machine runs in several processes, each with a part of the documents.

A run with n workers equals a run on a single machine with n times the batch size. All nodes must see the folders of the
corpus and of the run under the same path, on a shared file system.
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
    """`klda.model.workers.Workers`, implemented by the process group of Ray Train."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        # Small CPU data are sent with gloo, also when gradients are sent with nccl.
        self._talk = dist.new_group(backend="gloo")

    def gather(self, mine: Value) -> list[Value]:
        """The values of all workers, by rank."""
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
        """The arrays of all workers, of one shape and type; sending them as objects takes several times as long."""
        sent = torch.from_numpy(np.ascontiguousarray(mine))
        found = [torch.empty_like(sent) for _ in range(self.size)]
        dist.all_gather(found, sent, group=self._talk)
        return [tensor.numpy() for tensor in found]

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replaces each tensor by its sum over all workers; the sums are bit-equal on all workers."""
        if self.size == 1:
            return
        # One message instead of many: between two processes of a machine, a message costs more than its megabytes.
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        dist.all_reduce(flat)
        start = 0
        for tensor in tensors:
            tensor.copy_(flat[start : start + tensor.numel()].view_as(tensor))
            start += tensor.numel()


ERROR = "error.json"
"""The file in which a failed run leaves its error."""
MAX_FAILURES = 5
"""The number of lost nodes or processes after which a run fails."""


def train(
    model: KLDA,
    corpus: Path,
    folder: Path,
    *,
    workers: int = 1,
    resume: bool = False,
) -> KLDA:
    """The model, trained by `workers` processes on the corpus in a folder; checkpoints are kept in `folder`.

    A lost worker or node is replaced, and all workers resume from the last checkpoint.
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
            logging_config=ray.train.LoggingConfig(log_level="ERROR"),  # type: ignore[call-arg]  # the types are those of before v2
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
    """Raises SettingError for more workers than the cluster can run; Ray would wait for nodes without a message."""
    resources: Callable[[], dict[str, float]] = ray.cluster_resources  # it has no types
    there = resources().get(kind, 0)
    # Ray has no public function for the largest size of a growing cluster; early versions have none at all.
    growth: Callable[[], dict[str, float] | None] = getattr(state.state, "get_max_resources_from_cluster_config", dict)
    room = int(max(there, (growth() or {}).get(kind, 0)))
    if workers > room:
        raise SettingError(
            f"--workers {workers}: each needs a {kind} and the cluster has {room}; use fewer, or add nodes to it"
        )


@contextmanager
def _interrupts_as_before() -> Iterator[None]:
    """Restores the handling of Ctrl-C afterwards; Ray Train would keep its own after the run."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _train(config: dict[str, Any]) -> None:
    """Trains in one worker."""
    one_thread()
    workers = Together()
    model, folder = KLDA(**config["model"]), Path(config["folder"])
    try:
        corpus = in_step(workers, lambda: _own_part(workers, Path(config["corpus"]), model.half_life))
        model.fit(corpus, checkpoint=ReportedCheckpoints(workers.rank), workers=workers)
    except KldaError as error:
        # All workers meet the error, because work that only one could fail at is done `in_step`. Another attempt would
        # fail too, so the error is the result.
        if workers.rank == 0:
            problem = {"type": type(error).__name__, "message": str(error)}
            (folder / ERROR).write_text(json.dumps(problem), encoding="utf-8")
        return
    if workers.rank == 0:
        model.save(folder / RAY / TRAINED)


def _own_part(workers: Together, folder: Path, half_life: float | None) -> Corpus:
    """The part of the documents for this worker."""
    return load_corpus(folder, lambda window: own_stretch(recency_weights(window, half_life), workers))


class ReportedCheckpoints:
    """Checkpoints of all workers, which Ray Train stores as one."""

    def __init__(self, rank: int) -> None:
        self._rank = rank

    @contextmanager
    def latest(self) -> Iterator[Path | None]:
        """The folder of the last checkpoint of all workers; None if there is none."""
        checkpoint = ray.train.get_checkpoint()
        if checkpoint is None:
            yield None
            return
        with checkpoint.as_directory() as folder:
            yield Path(folder)

    @contextmanager
    def next(self, iteration: int) -> Iterator[Path]:
        """A folder for the checkpoint of this worker; Ray Train joins it with those of the others."""
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
            ray.train.report({"iteration": iteration}, checkpoint=ray.train.Checkpoint.from_directory(folder))
