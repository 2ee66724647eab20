"""Trained models as records of `checkpoint`: safetensors and JSON, which cannot run code when they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import torch

from klda.errors import FormatError, SettingError
from klda.model import checkpoint as files
from klda.model import runs
from klda.model.inference import Fitted
from klda.model.initialise import settings_of
from klda.model.model_settings import plain
from klda.model.objective import initial_parameters
from klda.text.documents import Ragged

_MODEL = "model"

Model = TypeVar("Model", bound=Fitted)


def write(model: Fitted, hyperparameters: Mapping[str, Any], folder: Path) -> None:
    """Puts a model into a folder."""
    facts = {
        "klda": version("klda"),
        "parameters": {name: plain(value) for name, value in hyperparameters.items()},
        "n_topics": model.n_topics_,
        "history": model.history_,
        "mean_length": model.mean_length_,
    } | runs.names_as_facts(model.vocabulary_, model.candidates_)
    tensors = {f"parameters.{name}": value for name, value in model.parameters_.tensors().items()}
    tensors["keyword_words.indptr"] = torch.from_numpy(model.keyword_words_.indptr)
    tensors["keyword_words.values"] = torch.from_numpy(model.keyword_words_.values)
    tensors["word_frequency"] = torch.from_numpy(model.word_frequency_)
    tensors["keyword_frequency"] = torch.from_numpy(model.keyword_frequency_)
    files.write(folder, _MODEL, tensors, facts)


def read(folder: Path, make: Callable[..., Model], *, device: str) -> Model:
    """The model in a folder; `make` gets its hyperparameters."""
    tensors, facts = files.read(folder, _MODEL)
    try:
        chosen = facts["parameters"] | {"device": device}
        model = make(**(chosen | {"hidden": tuple(chosen["hidden"])}))
        model.n_topics_ = int(facts["n_topics"])
        model.settings_ = settings_of(vars(model), n_topics=model.n_topics_)
        model.vocabulary_, model.candidates_ = runs.names_from_facts(facts)
        model.history_ = [(stage, at, value) for stage, at, value in facts["history"]]
        model.mean_length_ = float(facts["mean_length"])
        _check_shapes(model, tensors)
        model.keyword_words_ = _keyword_words(tensors, len(model.vocabulary_))
        model.word_frequency_ = tensors["word_frequency"].numpy()
        model.keyword_frequency_ = tensors["keyword_frequency"].numpy()
        model.parameters_ = initial_parameters(
            model.settings_,
            n_words=len(model.vocabulary_),
            word_frequency=model.word_frequency_,
            keyword_frequency=model.keyword_frequency_,
            generator=torch.Generator(),
        )
        runs.copy_into(model.parameters_, tensors)
    except (AttributeError, KeyError, TypeError, ValueError, RuntimeError, SettingError) as error:
        raise FormatError(f"{folder}: not a model of this version ({error}); train it again") from error
    return model


def _check_shapes(model: Fitted, tensors: Mapping[str, torch.Tensor]) -> None:
    """Refuses a record whose tensors do not have the sizes of its settings, before memory is allocated."""
    n_keywords, n_words, hidden = len(model.candidates_), len(model.vocabulary_), model.settings_.hidden
    layers = {"keyword": (n_keywords, hidden[0])} | {f"dense.{2 * i}": pair for i, pair in enumerate(pairwise(hidden))}
    wanted = {f"parameters.topic_word.layers.{name}": shape for name, shape in layers.items()} | {
        "parameters.topic_word.output": (hidden[-1] + 1, model.n_topics_, n_words),
        "keyword_words.indptr": (n_keywords + 1,),
        "keyword_frequency": (n_keywords,),
        "word_frequency": (n_words,),
    }
    for name, shape in wanted.items():
        if tuple(tensors[name].shape) != shape:
            raise ValueError(f"{name} has shape {tuple(tensors[name].shape)} instead of {shape}")


def _keyword_words(tensors: Mapping[str, torch.Tensor], n_words: int) -> Ragged:
    """The words of each candidate, checked to be words of the vocabulary."""
    found = Ragged(tensors["keyword_words.indptr"].numpy(), tensors["keyword_words.values"].numpy())
    ends_meet = found.indptr[0] == 0 and found.indptr[-1] == len(found.values) and (found.lengths >= 0).all()
    if not ends_meet or found.values.dtype.kind != "i" or ((found.values < 0) | (found.values >= n_words)).any():
        raise ValueError("keyword_words are not words of the vocabulary")
    return found
