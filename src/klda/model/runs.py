"""Training runs that can be stopped and taken up again, and models on disk, in terms of records of `checkpoint`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from klda.corpus.vocabulary import Vocabulary
from klda.errors import SettingError, TrainingError
from klda.model import checkpoint as files
from klda.model.data import TrainingData
from klda.model.objective import Parameters
from klda.model.settings import Settings
from klda.model.trainer import Trainer, split
from klda.model.training_state import TrainingState
from klda.types import Keyword, KeywordSet, Progress

RUN = "checkpoint"

MAY_CHANGE = {"max_iterations", "pretraining_iterations", "patience", "min_improvement", "device"}
"""Settings that may differ when a run is resumed: they say when to stop, not what is computed."""


def train(
    parameters: Parameters,
    data: TrainingData,
    settings: Settings,
    *,
    folder: Path | None,
    resume: bool,
    progress: Progress,
) -> list[tuple[str, int, float]]:
    """Trains the parameters in place; gives stage, iteration and held-out bound of every check."""
    if resume and folder is None:
        raise SettingError("resume needs the checkpoint folder of the run")
    trainer = Trainer(parameters, split(data, settings), settings)
    if folder is None:
        trainer.run(progress=progress)
        return list(trainer.state.position.history)
    run = {"settings": asdict(settings), "data": fingerprint(data)}
    if resume and files.exists(folder, RUN):
        tensors, facts = files.read(folder, RUN)
        _same_run(facts, run, folder)
        trainer.state.restore(tensors, facts)

    def save(state: TrainingState) -> None:
        files.write(folder, RUN, state.tensors(), state.facts() | run)

    trainer.run(save=save, progress=progress)
    return list(trainer.state.position.history)


def fingerprint(data: TrainingData) -> str:
    """A checksum of the arrays that a run trains on."""
    digest = hashlib.sha256()
    for array in (data.indptr, data.words, data.counts, data.observed.indptr, data.observed.values, data.weights):
        digest.update(np.ascontiguousarray(array).tobytes())
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
        tensor.copy_(tensors[f"parameters.{name}"])
