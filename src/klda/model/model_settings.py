"""Every setting of the model and its training, with the range it must lie in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from klda.errors import SettingError
from klda.types import whole_number

Relaxation = Literal["exact", "enumerate", "gumbel", "categorical"]
Partition = Literal["exact", "gibbs"]
Batches = Literal["stratified", "uniform"]
EarlyStop = Literal["bound", "words"]

_WHOLE = (
    "n_topics", "n_chains", "gibbs_period", "gibbs_steps", "enumeration_limit", "expectation_iterations", "batch_size",
    "pretraining_iterations", "max_iterations", "max_held_out", "check_every", "random_state",
)  # fmt: skip
_SEEDS = 2**63
"""Seeds are below this, so that every generator takes them."""


def plain(value: Any) -> Any:
    """The same in Python's own numbers, where it is or holds NumPy's: these cannot be written to a file.

    >>> plain(np.int64(3)), plain((np.int32(8), 8)), plain("cpu")
    (3, (8, 8), 'cpu')
    """
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return tuple(map(plain, value)) if isinstance(value, tuple | list) else value


@dataclass(frozen=True)
class ModelSettings:
    """What `KLDA` documents, without the parts that concern the estimator only."""

    n_topics: int = 5
    hidden: tuple[int, ...] = (32, 32)
    unigram_bias: bool = True
    topic_start: Literal["random", "lda"] = "random"
    topic_prior: Literal["fixed", "parametric"] = "fixed"
    topic_floor: float = 0.0
    keyword_penalty: float = 2.0
    theta_start: Literal["calibrated", "log_frequency"] = "calibrated"
    partition: Partition = "exact"
    n_chains: int = 100
    gibbs_period: int = 100
    gibbs_steps: int = 1000
    negative_weight: float = 1.0
    frequency_penalty: float = 1.0
    relaxation: Relaxation = "exact"
    enumeration_limit: int = 3
    share_sets: bool = True
    threshold: float = 0.5
    cooling: float = 1e-4
    lowest_temperature: float = 0.25
    word_weight: Literal["tokens", "vocabulary"] = "tokens"
    expectation_iterations: int = 20
    expectation_tolerance: float = 1e-2
    batches: Batches = "stratified"
    batch_size: int = 512
    learning_rate: float = 0.01
    keyword_learning_rate: float = 0.005
    l2: float = 0.1
    pretraining_iterations: int = 600
    max_iterations: int = 400
    held_out: float = 0.05
    max_held_out: int = 500
    early_stop: EarlyStop | None = "bound"
    check_every: int = 50
    patience: int | None = 4
    min_improvement: float = 1e-3
    smoothing: float = 0.5
    random_state: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, plain(getattr(self, field.name)))
        at_least = {
            "n_topics": 1, "n_chains": 1, "gibbs_period": 1, "gibbs_steps": 1, "cooling": 0,
            "enumeration_limit": 1, "expectation_iterations": 1, "batch_size": 1, "pretraining_iterations": 0,
            "max_iterations": 0, "max_held_out": 1, "check_every": 1, "l2": 0,
            "negative_weight": 0, "frequency_penalty": 0, "keyword_penalty": 0, "expectation_tolerance": 0,
            "min_improvement": 0,
        }  # fmt: skip
        for name in _WHOLE:
            object.__setattr__(self, name, whole_number(getattr(self, name), name, at_least.pop(name, 0)))
        for name, least in at_least.items():
            if not getattr(self, name) >= least:
                raise SettingError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for name in ("learning_rate", "keyword_learning_rate", "lowest_temperature"):
            if not getattr(self, name) > 0:
                raise SettingError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("threshold", "held_out", "smoothing", "topic_floor"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
        if self.random_state >= _SEEDS:
            raise SettingError(f"random_state must be at least 0 and below 2^63, got {self.random_state}")
        if self.enumeration_limit > 12:
            raise SettingError(f"enumeration_limit is {self.enumeration_limit}: 2^m subsets; at most 12")
        if not self.hidden or min(self.hidden) < 1:
            raise SettingError(f"hidden must name the size of at least one layer, got {self.hidden}")
        if self.patience is not None and self.patience < 1:
            raise SettingError(f"patience must be at least 1, or None to train to the cap, got {self.patience}")
        choices = {
            "topic_start": ("random", "lda"),
            "topic_prior": ("fixed", "parametric"),
            "theta_start": ("calibrated", "log_frequency"),
            "partition": ("exact", "gibbs"),
            "relaxation": ("exact", "enumerate", "gumbel", "categorical"),
            "word_weight": ("tokens", "vocabulary"),
            "batches": ("stratified", "uniform"),
            "early_stop": ("bound", "words", None),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise SettingError(f"{name} must be one of {', '.join(map(str, allowed))}, got {getattr(self, name)!r}")

    @property
    def allow_empty(self) -> bool:
        """Whether the empty keyword set is a state in training: binary Gumbel draws cannot exclude it."""
        return self.relaxation == "gumbel"

    @property
    def trains_epsilon(self) -> bool:
        """Whether q(keywords) has parameters; the exact one has none."""
        return self.relaxation != "exact"
