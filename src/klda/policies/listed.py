"""Which candidates were on the list, when, and what was collected without them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from klda.corpus.general_frequency import general_frequencies
from klda.policies.evidence import Evidence
from klda.policies.word_counts import window_recency
from klda.selection.arrays import Bools, Floats, Ints


def ever_listed(evidence: Evidence) -> Ints:
    """Columns of candidates that were on a list of the history."""
    return evidence.columns({keyword for used in evidence.history.history for keyword in used})


def active(evidence: Evidence, keywords: Ints) -> Bools:
    """Whether each of these keywords was on the list when a post was collected. # (D, n)"""
    return np.asarray(_used(evidence, keywords)[evidence.history.documents.window])


def windows_listed(evidence: Evidence, keywords: Ints, half_life: float) -> Floats:
    """In how many windows each of these keywords was on the list, older ones counted less, as its posts are. # (n,)"""
    return np.asarray(window_recency(evidence.history.n_windows, half_life) @ _used(evidence, keywords))


def outside(evidence: Evidence, carried: csr_array, listed: Ints) -> Bools:
    """Posts that no list collected: with none of the `listed` candidates nor of those that were before. # (D,)"""
    ever = np.union1d(listed, ever_listed(evidence))
    return np.asarray(np.asarray(carried[:, ever].sum(axis=1)).ravel() == 0)


def frequencies(evidence: Evidence, columns: Ints) -> Floats | None:
    """How common these candidates are in the language, None where that is not known. # (n,)"""
    return general_frequencies(evidence.keywords(columns), evidence.history.vocabulary.language)


def _used(evidence: Evidence, keywords: Ints) -> Bools:
    """Whether each of these keywords was on the list of each window. # (windows, n)"""
    return np.array([[evidence.candidates[int(k)] in listed for k in keywords] for listed in evidence.history.history])
