"""Judging a list by the posts that it collected itself, where nothing else is known: who belongs, and what is news."""

from __future__ import annotations

import numpy as np

from klda.policies.evidence import Evidence
from klda.policies.incidence import candidates_in
from klda.policies.word_counts import recency
from klda.selection.arrays import Bools, Ints
from klda.selection.company import BESIDE, FEWEST_KEYWORDS, company, shared_bursts, strangers
from klda.selection.frequency import window_counts

HALF_LIFE = 4.0
"""Windows after which the company that a keyword kept counts half."""
LEAST_LIST = 2
"""Keywords that stay, whatever company they keep."""


def out_of_place(evidence: Evidence, first: Ints) -> dict[int, str]:
    """Why some current keywords do not belong to the subject of the `first` ones, by column."""
    keywords = np.union1d(evidence.current, first)  # (n,) columns
    if len(first) < FEWEST_KEYWORDS:
        return {}
    carried = candidates_in(evidence.history)[:, keywords].toarray() > 0  # (D, n)
    listed = np.isin(keywords, evidence.current)
    known = company(
        carried, np.isin(keywords, first), _active(evidence, keywords), recency(evidence.history, HALF_LIFE)
    )
    usual = type(known)(known.posts[listed], known.accompanied[listed], known.first[listed])
    found = np.flatnonzero(strangers(usual))
    found = found[np.argsort(usual.rate[found])]
    # Two keywords that always come together make all others strangers: most of what people asked for stays.
    spare = max(0, int(usual.first.sum()) - (len(first) + 1) // 2)
    found = np.concatenate([found[~usual.first[found]], found[usual.first[found]][:spare]])
    found = found[: max(0, int(listed.sum()) - LEAST_LIST)]
    return {
        int(keywords[listed][row]): (
            f"{usual.rate[row]:.0%} of its posts carry another of the first keywords, where {usual.usual:.0%} is usual"
        )
        for row in found
    }


def breaking(evidence: Evidence, first: Ints) -> Ints:
    """Columns of candidates that burst in the last window beside several `first` keywords that are still listed."""
    history, last = evidence.history, evidence.last
    n_candidates = len(evidence.candidates)
    windows = history.documents.window.astype(np.int64)
    observed = history.observed.values.astype(np.int64)
    counts = window_counts(history.observed.indptr, observed, windows, history.n_windows, n_candidates)
    carried = candidates_in(last)  # (D, Q)
    listed = np.intersect1d(first, evidence.current)
    beside = ((carried.T @ carried[:, listed]).toarray() >= BESIDE).sum(axis=1)  # (Q,)
    found = np.flatnonzero(shared_bursts(counts.astype(np.float64), beside, len(listed)))
    return np.setdiff1d(found, evidence.current)


def _active(evidence: Evidence, keywords: Ints) -> Bools:
    """Whether each of these keywords was on the list when a post was collected. # (D, n)"""
    used = np.array(
        [[evidence.candidates[int(k)] in listed for k in keywords] for listed in evidence.history.history]
    )  # (windows, n)
    return np.asarray(used[evidence.history.documents.window])
