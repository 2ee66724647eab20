"""How long an iteration takes on Ray, and how much of it the workers speak or wait: timed inside the workers."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from klda.evaluation.parallel import one_thread
from klda.model.data import recency_weights, training_data
from klda.model.initialise import first_parameters
from klda.model.model_settings import ModelSettings
from klda.model.trainer import TRAINING, Trainer, own_stretch, split
from klda.ray.cluster import connected
from klda.ray.training import Together
from klda.text.shards import load_corpus

WARM_UP = 20
FOUND = "found.json"

Value = TypeVar("Value")


def on_ray(folder: Path, workers: int, batch: int, iterations: int) -> dict[str, Any]:
    """Milliseconds of an iteration of so many workers of one thread each, and those in which they do not compute."""
    with connected(cpus=max(2, workers)), tempfile.TemporaryDirectory(dir=folder.parent) as run:
        from ray.train import RunConfig, ScalingConfig
        from ray.train.torch import TorchTrainer

        start = time.perf_counter()
        TorchTrainer(
            timed_steps,
            train_loop_config={"folder": str(folder), "run": run, "batch": batch, "iterations": iterations},
            scaling_config=ScalingConfig(num_workers=workers),
            run_config=RunConfig(storage_path=run),
        ).fit()
        taken = time.perf_counter() - start
        found = json.loads((Path(run) / FOUND).read_text(encoding="utf-8"))
    return {"workers": workers, "batch": batch, **found, "run_seconds": round(taken, 1)}


def timed_steps(config: dict[str, Any]) -> None:
    """What each worker does: the steps of training, by the clock."""
    one_thread()
    workers = Listening()
    corpus = load_corpus(config["folder"], lambda window: own_stretch(recency_weights(window, None), workers))
    settings = ModelSettings(batch_size=config["batch"], random_state=0)
    parts = split(training_data(corpus, workers=workers), settings, workers)
    parameters = first_parameters(parts, settings, workers)
    trainer = Trainer(parameters, parts, settings, workers)
    trainer.state.position.stage = TRAINING
    whole, speaking = [], []
    for _ in range(WARM_UP + config["iterations"]):
        before, workers.seconds = time.perf_counter(), 0.0
        trainer.step()
        whole.append(time.perf_counter() - before)
        speaking.append(workers.seconds)
    if workers.rank == 0:
        gradient = sum(tensor.numel() * tensor.element_size() for tensor in parameters.tensors().values())
        found = {
            "documents": len(corpus),
            "words": parts.training.n_words,
            "iteration_milliseconds": _milliseconds(whole),
            "communication_milliseconds": _milliseconds(speaking),
            "gradient_megabytes": round(gradient / 2**20, 2),
        }
        (Path(config["run"]) / FOUND).write_text(json.dumps(found), encoding="utf-8")


def _milliseconds(seconds: Sequence[float]) -> float:
    return round(1000 * float(np.mean(seconds[WARM_UP:])), 2)


class Listening(Together):
    """Workers as in training, with a clock that runs while they speak or wait for each other."""

    seconds = 0.0

    def gather(self, mine: Value) -> list[Value]:
        """What each worker gave, by rank."""
        start = time.perf_counter()
        found = super().gather(mine)
        self.seconds += time.perf_counter() - start
        return found

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replaces each tensor by its sum over all workers."""
        start = time.perf_counter()
        super().add_up(tensors)
        self.seconds += time.perf_counter() - start
