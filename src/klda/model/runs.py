"""Training runs that can be stopped and resumed, and that begin again with a smaller step if they diverge."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from klda.errors import DivergedError, SettingError, TrainingError
from klda.model import checkpoint as files
from klda.model.data import TrainingData
from klda.model.model_settings import ModelSettings
from klda.model.objective import Parameters
from klda.model.trainer import Split, Trainer
from klda.model.training_state import TrainingState
from klda.model.workers import ALONE, Workers, in_step
from klda.text.vocabulary import Vocabulary
from klda.types import Keyword, KeywordSet, Progress, silent

RUN = "checkpoint"

MAY_CHANGE = {"max_iterations", "pretraining_iterations", "patience", "min_improvement"}
"""Settings that may differ when a run is resumed: they only say when to stop."""


class Checkpoints(Protocol):
    """Where the checkpoints of a run are kept."""

    def latest(self) -> AbstractContextManager[Path | None]:
        """A folder with the checkpoint to go on from, if there is one."""
        ...

    def next(self, iteration: int) -> AbstractContextManager[Path]:
        """A folder for the next one, which takes the place of the last when the context ends."""
        ...


@dataclass(frozen=True)
class InFolder:
    """Checkpoints in one folder, each in place of the one before."""

    folder: Path
    resume: bool

    def latest(self) -> AbstractContextManager[Path | None]:
        """The folder, if the run is to be resumed and has a checkpoint."""
        return nullcontext(self.folder if self.resume and has_begun(self.folder) else None)

    def next(self, iteration: int) -> AbstractContextManager[Path]:  # noqa: ARG002
        """The folder: a record is replaced in one step."""
        return nullcontext(self.folder)


def has_begun(folder: Path) -> bool:
    """Whether a folder holds a checkpoint from which a run can be resumed."""
    return files.exists(folder, RUN)


def step_of(folder: Path) -> float | None:
    """The learning rate of the run in a folder, which is smaller if the run began again."""
    if not has_begun(folder):
        return None
    found = files.read(folder, RUN)[1].get("settings", {}).get("learning_rate")
    return None if found is None else float(found)


def checkpoints(where: Path | str | Checkpoints | None, resume: bool) -> Checkpoints | None:
    """Where to keep checkpoints, given as a folder or already as such."""
    if where is None and resume:
        raise SettingError("resume needs the checkpoint folder of the run")
    return InFolder(Path(where), resume) if isinstance(where, Path | str) else where


def train(
    parameters: Parameters,
    data: Split,
    settings: ModelSettings,
    *,
    mark: str = "",
    keep: Checkpoints | None = None,
    progress: Progress = silent,
    workers: Workers = ALONE,
) -> list[tuple[str, int, float]]:
    """Trains the parameters in place; gives stage, iteration and held-out bound of every check.

    A run is resumed only with the same `mark`, a checksum of this worker's documents.
    """
    trainer = Trainer(parameters, data, settings, workers)
    if keep is None:
        trainer.run(progress=progress)
        return list(trainer.state.position.history)
    run = {"settings": asdict(settings), "data": mark, "workers": workers.size}

    def restore() -> None:
        with keep.latest() as folder:
            if folder is not None:
                tensors, facts = _read(folder, workers)
                _same_run(facts, run, folder)
                trainer.state.restore(tensors, facts)

    in_step(workers, restore)  # each reads a record of its own, and one alone may be damaged

    def save(state: TrainingState) -> None:
        with keep.next(state.position.iteration) as folder:
            _write(folder, state, run, workers)

    trainer.run(save=save, progress=progress)
    return list(trainer.state.position.history)


def _write(folder: Path, state: TrainingState, run: dict[str, Any], workers: Workers) -> None:
    """Writes a checkpoint. Of several workers, the first writes the shared tensors, and each its own."""
    if workers.size == 1:
        files.write(folder, RUN, state.tensors(), state.facts() | run)
        return
    files.write(folder, f"worker-{workers.rank}", state.own_tensors(), run)
    if workers.rank == 0:
        files.write(folder, RUN, state.shared_tensors(), state.facts() | run)


def _read(folder: Path, workers: Workers) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors, facts = files.read(folder, RUN)
    n_workers = facts.get("workers", 1)
    if n_workers != workers.size:
        raise TrainingError(f"{folder}: the checkpoint is of {n_workers} workers, not of {workers.size}; set it back")
    if workers.size == 1:
        return tensors, facts
    own, run = files.read(folder, f"worker-{workers.rank}")
    return tensors | own, facts | run


def fingerprint(data: TrainingData) -> str:
    """A checksum of the arrays that a run trains on."""
    digest = hashlib.sha256()
    for array in (data.indptr, data.words, data.counts, data.observed.indptr, data.observed.values, data.weights):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _same_run(found: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    if found.get("data") != wanted["data"]:
        raise TrainingError(f"{folder}: the checkpoint is of another corpus; train without resume")
    old = found.get("settings", {})
    for name, value in wanted["settings"].items():
        before = tuple(old[name]) if isinstance(old.get(name), list) else old.get(name)
        if name not in MAY_CHANGE and before != value:
            raise TrainingError(f"{folder}: {name} was {before!r} in the checkpoint and is {value!r} now; set it back")


def names_as_facts(vocabulary: Vocabulary, candidates: KeywordSet) -> dict[str, Any]:
    """Vocabulary and candidates as JSON can hold them."""
    return {
        "candidates": [{"text": keyword.text, "forms": list(keyword.forms)} for keyword in candidates],
        "vocabulary": {
            "language": vocabulary.language,
            "words": vocabulary.words,
            "forms": vocabulary.forms,
            "form_counts": vocabulary.form_counts,
        },
    }


def names_from_facts(facts: Mapping[str, Any]) -> tuple[Vocabulary, KeywordSet]:
    """What `names_as_facts` was given."""
    words = facts["vocabulary"]
    if not len(words["words"]) == len(words["forms"]) == len(words["form_counts"]):
        raise ValueError("the vocabulary does not have forms for each of its words")
    vocabulary = Vocabulary(
        tuple(words["words"]),
        tuple(tuple(forms) for forms in words["forms"]),
        tuple(tuple(counts) for counts in words["form_counts"]),
        words["language"],
    )
    return vocabulary, KeywordSet(tuple(Keyword(one["text"], tuple(one["forms"])) for one in facts["candidates"]))


def copy_into(parameters: Parameters, tensors: Mapping[str, Tensor]) -> None:
    """Overwrites parameters with those of a record."""
    for name, tensor in parameters.tensors().items():
        found = tensors[f"parameters.{name}"]
        if found.shape != tensor.shape:  # a copy would spread fewer numbers over more
            raise ValueError(f"{name} has shape {tuple(found.shape)} instead of {tuple(tensor.shape)}")
        if not bool(torch.isfinite(found).all()):
            raise ValueError(f"{name} holds what is no finite number")
        tensor.copy_(found)


ATTEMPTS, SMALLER_STEP = 3, 0.25

T = TypeVar("T")


def with_smaller_steps(train: Callable[[float], T], step: float, again: Callable[[float], None] = lambda _: None) -> T:
    """The result of `train` with a step size; if training diverges, with a quarter of it, twice at most.

    `again` is called with each smaller step before the attempt. The last failure is raised.

    >>> def train(step: float) -> str:
    ...     if step > 0.005:
    ...         raise DivergedError("the bound went to infinity")
    ...     return f"trained with {step}"
    >>> with_smaller_steps(train, 0.01)
    'trained with 0.0025'
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return train(step * SMALLER_STEP**attempt)
        except DivergedError:
            again(step * SMALLER_STEP ** (attempt + 1))
    return train(step * SMALLER_STEP ** (ATTEMPTS - 1))
