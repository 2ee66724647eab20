"""Keywords from the mistakes of classifiers (King, Lam and Roberts, 2017), with the first list as reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import betaln
from threadpoolctl import threadpool_limits

from klda.advice.evidence import Evidence, columns_of
from klda.arrays import Bools, Floats
from klda.baselines.incidence import candidates_in, words_in
from klda.baselines.ranked import Ranking, RankingPolicy
from klda.errors import DataError
from klda.types import KeywordSet, Progress

FOLDS = 5
"""Each search post is classified by classifiers that learnt from the other folds of both sets."""


@dataclass
class KingLamRoberts(RankingPolicy):
    """Candidates that tell posts that read like the first list's, but lack its keywords, from other posts.

    The last window's posts with a keyword of the first list are the reference set, all its other posts the search set.
    Naive Bayes and logistic regression learn to tell the two apart by their words, keywords masked. Search posts that
    either takes for reference posts are the target set. Candidates more frequent in the target set than in the rest of
    the search set come first, by the likelihood of the split; those more frequent in the rest come last. Keywords of
    the first list are in no search post, and stay ahead. `founding` is that list; without it, the list of the first
    window.
    """

    founding: KeywordSet | None = None

    name = "king-lam-roberts"

    def rank(
        self,
        evidence: Evidence,
        *,
        generator: np.random.Generator,
        progress: Progress,  # noqa: ARG002
    ) -> Ranking:
        """The likelihood of the split into target set and rest given each candidate, with its direction."""
        first = (self.founding or evidence.history.history[0]).included
        posts = evidence.last.with_candidates(first)
        if min(len(posts), len(posts.apart)) < FOLDS:
            raise DataError(
                f"the classifiers compare posts with a keyword of the first list ({', '.join(first.texts)}) with "
                f"posts without, and the last window has fewer than {FOLDS} of one; give more posts, or a sample of all"
            )
        n_words = len(posts.vocabulary)
        masked = np.union1d(posts.keyword_words.values, 0)
        kept = np.setdiff1d(np.arange(n_words), masked)
        reference = words_in(posts.documents, n_words)[:, kept]
        search = words_in(posts.apart, n_words)[:, kept]
        target = target_posts(reference, search, generator)
        of_target = np.isin(evidence.last.documents.post, posts.apart.post[target])
        of_rest = np.isin(evidence.last.documents.post, posts.apart.post[~target])
        carried = candidates_in(evidence.last)  # (D, Q)
        there, elsewhere = of_target.astype(np.float64) @ carried, of_rest.astype(np.float64) @ carried
        n_target, n_rest = int(target.sum()), int((~target).sum())
        scores = directed_likelihood(there, elsewhere, n_target, n_rest)
        reasons = [
            f"in {int(a):,} of {n_target:,} posts that read like the first list's without its keywords, "
            f"and in {int(b):,} of {n_rest:,} others"
            for a, b in zip(there, elsewhere, strict=True)
        ]
        own = columns_of(evidence.candidates, first)
        scores[own] = scores.max() + 1
        for column in own.tolist():
            reasons[column] = "a keyword of the first list, which says what to look for"
        return Ranking(scores, reasons)


def target_posts(reference: csr_array, search: csr_array, generator: np.random.Generator) -> Bools:
    """Which posts of the search set (S, V) a classifier takes for posts of the reference set (R, V). # (S,)"""
    from sklearn.linear_model import LogisticRegression  # scikit-learn takes a second to import
    from sklearn.naive_bayes import MultinomialNB

    found = np.zeros(search.shape[0], dtype=np.bool_)
    if not reference.shape[1]:
        return found  # there is no word to tell by
    of_reference, of_search = (generator.permutation(part.shape[0]) % FOLDS for part in (reference, search))
    for held_out in range(FOLDS):
        known, seen = np.flatnonzero(of_reference != held_out), np.flatnonzero(of_search != held_out)
        unseen = np.flatnonzero(of_search == held_out)
        words = vstack([reference[known], search[seen]], format="csr")
        is_reference = np.arange(words.shape[0]) < len(known)
        for classifier in (MultinomialNB(), LogisticRegression(max_iter=1000)):
            with threadpool_limits(1):  # BLAS threads spin: beside other work they cost many times what they save
                found[unseen] |= classifier.fit(words, is_reference).predict(search[unseen])
    return found


def directed_likelihood(target: Floats, rest: Floats, n_target: int, n_rest: int) -> Floats:
    """Scores that put words of the target set first and words of the rest last, by the split's likelihood. # (Q,)

    `target` and `rest` count the posts of each set with a word. Posts with and without the word each have a chance to
    be in the target set, uniform beforehand. The score is 1 for the word that explains the split least, and grows with
    the logarithm of the split's likelihood. It is negative for words more frequent in the rest, 0 where both are alike.

    >>> directed_likelihood(np.array([5.0, 1.0, 0.0]), np.array([0.0, 1.0, 5.0]), 10, 10).round(2)
    array([ 3.96,  0.  , -3.96])
    """
    split = betaln(target + 1, rest + 1) + betaln(n_target - target + 1, n_rest - rest + 1)
    direction = np.sign(target * max(n_rest, 1) - rest * max(n_target, 1))
    return np.asarray(direction * (split - split.min() + 1), dtype=np.float64)
