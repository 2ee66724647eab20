"""Relevance: the probability that what a term newly brings is on the subject. A logistic model of its features.

Words are looked at twice: the likely ones of the first look tell in the second what company a word keeps. The
coefficients are data: `relevance.json` says when, from what and by which command they were fitted. There is one set for
each combination of what may be unknown as a whole: posts without the list, and what words mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from klda.advice.constants import COMPANY_WORDS, FARTHEST, LEAST_COMPANY, MOST_COMPANY
from klda.advice.features import CONTEXT, COUNTS, MEANING, NAMES, POSTS_MEANING, Features
from klda.advice.terms import Terms
from klda.arrays import Floats

FILE = Path(__file__).with_name("relevance.json")


@dataclass(frozen=True)
class Relevance:
    """A logistic model over standardised features, each with a sign of being missing, and maybe their products."""

    names: tuple[str, ...]
    mean: Floats  # (F,)
    spread: Floats  # (F,)
    weights: Floats  # (2 F,)  of the features, then of their being missing; then of their products, if any
    intercept: float

    def __call__(self, features: Floats) -> Floats:
        """The probability of each term from all its features (T, F of all names). # (T,)"""
        chosen = features[:, [NAMES.index(name) for name in self.names]]
        products = len(self.weights) > 2 * len(self.names)
        score = self.intercept + design(chosen, self.mean, self.spread, products) @ self.weights
        return np.asarray(1 / (1 + np.exp(-score)))

    @classmethod
    def of(cls, plain: Mapping[str, Sequence[float] | Sequence[str] | float]) -> Relevance:
        """The model in plain data."""
        arrays = {name: np.array(plain[name], dtype=np.float64) for name in ("mean", "spread", "weights")}
        return cls(tuple(plain["names"]), **arrays, intercept=float(plain["intercept"]))  # type: ignore[arg-type]


Models = Mapping[str, Mapping[str, Relevance]]
"""A model for each combination of what is known, and for each look."""


def design(features: Floats, mean: Floats, spread: Floats, products: bool = False) -> Floats:
    """Standardised features, 0 where missing, what is missing, and the products of two features if asked. # (T, 2 F)

    >>> design(np.array([[3.0, np.nan]]), np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    array([[1., 0., 0., 1.]])
    >>> design(np.array([[3.0, 3.0]]), np.array([0.0, 0.0]), np.array([1.0, 1.0]), products=True)
    array([[3., 3., 0., 0., 9., 9., 9.]])
    """
    missing = np.isnan(features)
    scaled = np.clip((np.where(missing, mean, features) - mean) / spread, -FARTHEST, FARTHEST)
    if not products:
        return np.hstack([scaled, missing.astype(np.float64)])
    one, other = np.triu_indices(scaled.shape[1])
    return np.hstack([scaled, missing.astype(np.float64), scaled[:, one] * scaled[:, other]])


def relevance(features: Features, look: str = "second", models: Models | None = None) -> Floats:
    """The probability that what each term newly brings is on the subject, by the model of what is known. # (T,)

    The first look does without `company`, which needs to know likely words. A thin sample shows few posts of a word:
    half of the log odds is then what the list's posts alone say. `models` take the place of those that ship.
    """
    models = models or shipped()
    known = groups_known(features)
    chance = models[known][look](features.values)
    if not (features.outside_known and features.unseen.any()):
        return chance
    return halfway(chance, models[LIST_ALONE[known]][look](features.values))


def halfway(one: Floats, other: Floats) -> Floats:
    """The probability whose log odds lie halfway between those of two. # as given

    >>> halfway(np.array([0.9, 0.5]), np.array([0.1, 0.5])).round(2)
    array([0.5, 0.5])
    """
    odds = np.sqrt(one * other), np.sqrt((1 - one) * (1 - other))
    return np.asarray(odds[0] / np.maximum(odds[0] + odds[1], 1e-12))


def weighed(terms: Terms, features: Features, models: Models | None = None) -> Features:
    """The features with the company that each term keeps among words that a first look finds likely."""
    chance = relevance(features, "first", models)
    return features.with_company(company_of(terms, chance, features.outside_known))


def groups_known(features: Features) -> str:
    """The regime: what is known of posts without the list, and whether the meaning of words is."""
    meaning = bool(np.isfinite(features.values[:, NAMES.index("meaning_nearest")]).any())
    known = (features.outside_known, meaning)
    return next(name for name, needs in REGIMES.items() if needs == known)


@cache
def shipped() -> Models:
    """The models that ship, by what is known and by look."""
    plain = json.loads(FILE.read_text(encoding="utf-8"))["models"]
    return {known: {look: Relevance.of(one) for look, one in looks.items()} for known, looks in plain.items()}


REGIMES = {
    "outside, meaning": (True, True),
    "outside": (True, False),
    "meaning": (False, True),
    "list only": (False, False),
}
"""What may be known as a whole: posts without the list, all or a sample, and vectors. Each has coefficients of its
own."""
LIST_ALONE = {"outside, meaning": "meaning", "outside": "list only"}
"""The model that does without posts without the list."""
LISTED = tuple(name for name in COUNTS if name not in ("lift", "beside"))
"""Counts that the list's posts alone tell."""
FEATURES = {
    "outside, meaning": (*COUNTS, *CONTEXT, *MEANING, *POSTS_MEANING),
    "outside": (*COUNTS, *CONTEXT),
    "meaning": (*LISTED, *MEANING),
    "list only": LISTED,
}
"""The features that each of these models has at the first look; the second has `company` too."""
GROUPS = {
    "counts": COUNTS,
    "context": CONTEXT,
    "counts + context": (*COUNTS, *CONTEXT),
    "meaning": MEANING,
    "counts + meaning": (*COUNTS, *MEANING),
    "counts + context + meaning": (*COUNTS, *CONTEXT, *MEANING, *POSTS_MEANING),
    "the same, posts without vectors": (*COUNTS, *CONTEXT, *MEANING),
}
"""Groups of features that are compared."""


def company_of(terms: Terms, chance: Floats, outside_known: bool) -> Floats:
    """The log ratio of likely posts among those that each term newly brings, to the usual share. # (T,)

    `chance` (T,) is what a first look gives each term. A post is likely if one of its likely words belongs; the term
    itself and the list do not count. Where no post without the list is known, all posts of a term count as new. Of a
    keyword the posts count that no other keyword brings: they are what its trial on the list showed.
    """
    n = terms.n_current
    listed = np.asarray(terms.posts[:, :n].sum(axis=1)).ravel()  # (D,) keywords of the list in each post
    score = np.where(chance >= LEAST_COMPANY, chance, 0.0)
    score[:n] = 0.0
    top = np.argsort(-score, kind="stable")[:COMPANY_WORDS]
    likely = top[score[top] > 0]
    doubt = np.log1p(-np.minimum(chance[likely], MOST_COMPANY))  # log of the chance that a word does not belong
    having = terms.posts[:, likely].tocsc()
    doubts = np.asarray(having @ doubt).ravel() if len(likely) else np.zeros(len(listed))  # (D,)
    belongs = -np.expm1(doubts)  # (D,) the chance that one of its words belongs
    new = (listed == 0).astype(np.float64) if outside_known else np.ones(len(listed))
    hits = np.asarray(terms.posts.T @ (new * belongs)).ravel()
    posts = np.asarray(terms.posts.T @ new).ravel()
    for i, column in enumerate(likely.tolist()):
        rows = having.indices[having.indptr[i] : having.indptr[i + 1]]
        hits[column] = (new[rows] * -np.expm1(doubts[rows] - doubt[i])).sum()
    # of a keyword those count that no other keyword brings: they are what a trial of it on the list shows
    alone = (listed == 1).astype(np.float64)
    listed_terms = terms.posts[:, :n]
    tried = np.asarray(listed_terms.T @ alone).ravel()  # (n,)
    shown = (tried > 0) | outside_known
    hits[:n] = np.where(shown, np.asarray(listed_terms.T @ (alone * belongs)).ravel(), hits[:n])
    posts[:n] = np.where(shown, tried, posts[:n])
    # one post in a thousand belongs whatever its words: where none is likely, all keep usual company
    usual = float((new * belongs).sum() / max(new.sum(), 1.0)) + 1e-3
    # two usual posts stand in, so that a single post does not decide
    return np.asarray(np.log((hits + 1e-3 * posts + 2 * usual) / (posts + 2) / usual))
