"""A reference that buys labels: an active-learning classifier, and the best keyword list by its answers.

Wankmüller (2022) found that active learning with some labels retrieves posts better than lists of keywords do. A list
extracted from such a classifier shows how much of that quality a list can keep.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack
from threadpoolctl import threadpool_limits

from klda.arrays import Bools, Floats, Ints
from klda.baselines.incidence import words_in
from klda.evaluation.archive import Archive
from klda.evaluation.oracle import best_keywords_for
from klda.evaluation.subjects import Subject
from klda.types import KeywordSet

ROUNDS = 10
"""How often the classifier chooses posts to be labelled; all rounds buy the same number."""


def keywords_by_labels(
    archive: Archive, window: int, subject: Subject, max_terms: int, generator: np.random.Generator, *, n_labels: int
) -> KeywordSet:
    """The best list by a classifier that bought `n_labels` labels of one window's posts."""
    inside = archive.positions(window)
    relevant = learn(
        features(archive, inside),
        lambda chosen: archive.labelled(inside[chosen], subject.labels),
        np.isin(inside, archive.collect(window, subject.keywords)),
        n_labels,
        generator,
    )
    return best_keywords_for(archive, window, relevant, max_terms)


def features(archive: Archive, positions: Ints) -> csr_array:
    """The words of each post by tf-idf, of length 1, and its meaning where vectors are known. # (D, F)"""
    present = words_in(archive.documents.take(positions), len(archive.corpus.vocabulary))
    posts = np.asarray(present.sum(axis=0))
    rarity = present @ diags_array(np.log((len(positions) + 1) / (posts + 1)))  # (D, V)
    length = np.sqrt(np.asarray(rarity.multiply(rarity).sum(axis=1)))
    words = diags_array(np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)) @ rarity
    meaning = archive.meaning(positions)
    return csr_array(words if meaning is None else hstack([words, csr_array(meaning)]))


def learn(
    features: csr_array,
    ask: Callable[[Ints], Bools],
    listed: Bools,
    n_labels: int,
    generator: np.random.Generator,
) -> Bools:
    """Which posts are on the subject: told by `ask` for at most `n_labels` of them, predicted for the rest. # (D,)

    The first round asks about posts drawn at random, half of them with a keyword of the first list (`listed`), until
    both answers were given. Later rounds ask about the posts of which the classifier is least sure.
    """
    n_posts = features.shape[0]
    answers = np.zeros(n_posts, dtype=np.bool_)
    known = np.zeros(n_posts, dtype=np.bool_)
    chance: Floats | None = None
    per_round = -(-n_labels // ROUNDS)
    while (left := min(n_labels, n_posts) - int(known.sum())) > 0:
        unknown = np.flatnonzero(~known)
        if chance is None:
            order = generator.permutation(unknown)
            order = alternating(order[listed[order]], order[~listed[order]])
        else:
            order = unknown[np.argsort(np.abs(chance[unknown] - 0.5), kind="stable")]
        chosen = order[: min(per_round, left)]
        answers[chosen] = ask(chosen)
        known[chosen] = True
        chance = _chance(features, known, answers)
    return answers if chance is None else np.where(known, answers, chance > 0.5)


def alternating(one: Ints, other: Ints) -> Ints:
    """The first of one, the first of the other, the second of one, and so on; at last what is left of the longer.

    >>> alternating(np.array([1, 2, 3]), np.array([7]))
    array([1, 7, 2, 3])
    """
    turn = np.concatenate([np.arange(len(one)), np.arange(len(other)) + 0.5])
    return np.concatenate([one, other])[np.argsort(turn)]


def _chance(features: csr_array, known: Bools, answers: Bools) -> Floats | None:
    """The chance that each post is on the subject; None while all answers were the same. # (D,)"""
    from sklearn.linear_model import LogisticRegression  # scikit-learn takes a second to import

    if len(np.unique(answers[known])) < 2:
        return None
    classifier = LogisticRegression(class_weight="balanced", max_iter=1000)
    with threadpool_limits(1):  # BLAS threads spin: beside other work they cost many times what they save
        classifier.fit(features[np.flatnonzero(known)], answers[known])
        return np.asarray(classifier.predict_proba(features)[:, 1])
