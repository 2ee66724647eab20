"""Relevance: the probability that what a term newly brings is on the subject. One logistic model of its features.

The coefficients are data: `relevance.json` says when, from what and by which command they were fitted. There is one set
for each combination of what may be unknown as a whole: posts without the list, and what words mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from klda.advice.features import CONTEXT, COUNTS, MEANING, NAMES, Features
from klda.selection.arrays import Floats

FILE = Path(__file__).with_name("relevance.json")
FARTHEST = 4.0
"""Standard deviations at which a feature is cut off: an odd archive must not leave the range that was fitted."""


@dataclass(frozen=True)
class Relevance:
    """A logistic model over standardised features, each with an indicator of being missing."""

    names: tuple[str, ...]
    mean: Floats  # (F,)
    spread: Floats  # (F,)
    weights: Floats  # (2 F,)  of the features, then of their being missing
    intercept: float

    def __call__(self, features: Floats) -> Floats:
        """The probability of each term from all its features (T, F of all names). # (T,)"""
        chosen = features[:, [NAMES.index(name) for name in self.names]]
        score = self.intercept + design(chosen, self.mean, self.spread) @ self.weights
        return np.asarray(1 / (1 + np.exp(-score)))

    @classmethod
    def of(cls, plain: Mapping[str, Sequence[float] | Sequence[str] | float]) -> Relevance:
        """The model in plain data."""
        arrays = {name: np.array(plain[name], dtype=np.float64) for name in ("mean", "spread", "weights")}
        return cls(tuple(plain["names"]), **arrays, intercept=float(plain["intercept"]))  # type: ignore[arg-type]


def design(features: Floats, mean: Floats, spread: Floats) -> Floats:
    """Standardised features, 0 where missing, and beside them what is missing. # (T, 2 F)

    >>> design(np.array([[3.0, np.nan]]), np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    array([[1., 0., 0., 1.]])
    """
    missing = np.isnan(features)
    scaled = np.clip((np.where(missing, mean, features) - mean) / spread, -FARTHEST, FARTHEST)
    return np.hstack([scaled, missing.astype(np.float64)])


def relevance(features: Features) -> Floats:
    """The probability that what each term newly brings is on the subject, by the model of what is known. # (T,)"""
    return fitted_model(groups_known(features))(features.values)


def groups_known(features: Features) -> str:
    """Which groups of features are known at all: posts without the list, and the meaning of words."""
    meaning = bool(np.isfinite(features.values[:, NAMES.index("meaning_nearest")]).any())
    known = (features.outside_known, meaning)
    return next(name for name, needs in REGIMES.items() if needs == known)


@cache
def fitted_model(known: str) -> Relevance:
    """The fitted model for these known groups."""
    return Relevance.of(json.loads(FILE.read_text(encoding="utf-8"))["models"][known])


REGIMES = {
    "outside, meaning": (True, True),
    "outside": (True, False),
    "meaning": (False, True),
    "list only": (False, False),
}
"""What may be known as a whole: posts without the list, and vectors. Each has coefficients of its own."""
LISTED = tuple(name for name in COUNTS if name not in ("lift", "beside"))
"""Counts that the list's posts alone tell."""
FEATURES = {
    "outside, meaning": NAMES,
    "outside": (*COUNTS, *CONTEXT),
    "meaning": (*LISTED, *MEANING),
    "list only": LISTED,
}
"""The features that each of these models has."""
GROUPS = {
    "counts": COUNTS,
    "context": CONTEXT,
    "counts + context": (*COUNTS, *CONTEXT),
    "meaning": MEANING,
    "counts + meaning": (*COUNTS, *MEANING),
    "counts + context + meaning": NAMES,
    "the same, posts without vectors": (*COUNTS, *CONTEXT, *MEANING),
}
"""Groups of features that are compared."""
