"""Judging words that were added to the list by the posts that they brought, where a sample shows the rest."""

from __future__ import annotations

import numpy as np

from klda.policies.evidence import FEWEST_APART, Evidence
from klda.policies.incidence import candidates_in, words_in
from klda.policies.listed import active, frequencies, outside
from klda.selection.arrays import Floats, Ints
from klda.selection.company import chance_on_subject
from klda.selection.trial import share_after_trial, speak_of_it, subject_words

MOST_OUTSIDE = 50_000
"""Latest posts without a candidate that are looked at."""


def after_trial(
    evidence: Evidence, tried: Ints, first: Ints, share: Floats, weight: Floats
) -> tuple[Floats, Floats] | None:
    """Shares of posts of words that were `tried` (n,): expected on the subject, and speaking of it. # (n,), (n,)

    The second is of the posts without a first keyword. None where too little of the rest of the stream is known.
    `first` are the first keywords with their own `share` each, `weight` (D,) is how much a post counts.
    """
    history, carried = evidence.history, candidates_in(evidence.history)  # (D, Q)
    elsewhere = outside(evidence, carried, np.union1d(tried, first))  # (D,)
    apart = history.apart.take(slice(max(0, len(history.apart) - MOST_OUTSIDE), None))
    n_outside = int(elsewhere.sum()) + len(apart)
    if n_outside < FEWEST_APART:
        return None
    n_words = len(history.vocabulary)
    words, rest = words_in(history.documents, n_words), words_in(apart, n_words)
    chance = chance_on_subject(carried[:, first], share)  # (D,)
    believed = weight * chance
    in_rest = elsewhere.astype(np.float64) @ words + rest.sum(axis=0)  # (V,)
    says = subject_words(believed @ words, float(believed.sum()), in_rest, n_outside)
    says[history.keyword_words.take(first).values] = 0.0
    known = np.concatenate([words[elsewhere] @ says, rest @ says])  # (n_outside,)
    mine = (carried[:, tried].toarray() > 0) & active(evidence, tried)  # (D, n)
    with_first = np.asarray(carried[:, first].sum(axis=1)).ravel() > 0
    alone = mine & ~with_first[:, None]
    speaking = np.zeros(len(tried))
    for row, column in enumerate(tried):
        others = says.copy()
        others[history.keyword_words[int(column)]] = 0.0  # that a post has the word itself says nothing
        found = np.flatnonzero(alone[:, row])
        speaking[row] = weight[found] @ speak_of_it(words[found] @ others, known)
    by_itself = weight @ alone  # (n,)
    expected = share_after_trial(weight @ mine, believed @ mine, by_itself, speaking, frequencies(evidence, tried))
    return expected, speaking / np.maximum(by_itself, 1e-9)
