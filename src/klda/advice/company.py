"""Company: do the posts that a term would newly bring also have other words that are likely on the subject?

A first look finds likely words. They tell more than the list alone: *absentee* stands beside *ballots* more often than
beside the keyword *election*.
"""

from __future__ import annotations

import numpy as np

from klda.advice.constants import COMPANY_WORDS, LEAST_COMPANY, MOST_COMPANY
from klda.advice.terms import Terms
from klda.arrays import Floats


def company_of(terms: Terms, chance: Floats, outside_known: bool) -> Floats:
    """The log ratio of likely posts among those that each term newly brings, to the usual share. # (T,)

    `chance` (T,) is what a first look gives each term. A post is likely if one of its likely words belongs; the term
    itself and the list do not count. Where no post without the list is known, all posts of a term count as new.
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
    if outside_known:  # a keyword brings the posts that no other keyword does
        alone = (listed == 1).astype(np.float64)
        hits[:n] = np.asarray(terms.posts[:, :n].T @ (alone * belongs)).ravel()
        posts[:n] = np.asarray(terms.posts[:, :n].T @ alone).ravel()
    # one post in a thousand belongs whatever its words: where none is likely, all keep usual company
    usual = float((new * belongs).sum() / max(new.sum(), 1.0)) + 1e-3
    # two usual posts stand in, so that a single post does not decide
    return np.asarray(np.log((hits + 1e-3 * posts + 2 * usual) / (posts + 2) / usual))
