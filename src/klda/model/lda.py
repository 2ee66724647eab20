"""Plain LDA: the baseline, the truth for each keyword, and the way to find a number of topics.

The one place that knows tomotopy, which fits by collapsed Gibbs sampling. Always one worker: with several the result
depends on more than the seed, and on a few thousand short documents they are slower.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from klda.errors import DataError, SettingError
from klda.model.bags import Bags, Floats, document_of_entry
from klda.model.bound import expectation, terms
from klda.model.coherence import coherence
from klda.text.documents import Ints
from klda.types import Progress, silent

with warnings.catch_warnings():  # its compiled types lack __module__, which Python deprecates on import
    warnings.simplefilter("ignore", DeprecationWarning)
    import tomotopy

ALPHA, ETA = 0.1, 0.01
DEFAULT_GRID = (2, 3, 5, 8, 12, 20, 30)
"""Numbers of topics that `choose_n_topics` tries."""
MAX_DOCUMENTS = 10_000
"""Documents that it looks at."""


@dataclass(frozen=True)
class LDA:
    """Topics over the caller's whole vocabulary. A word without a fitted post has the smoothed probability."""

    topic_word: Floats  # (K, V)
    alpha: Floats  # (K,)

    def infer(self, documents: Bags, *, counts: NDArray[np.generic] | None = None) -> Floats:
        """The topic weights of documents, seen or new: the mean of q(η). # (D, K)

        `counts` stands in for the documents' own, for instance when part of the tokens is hidden. # (nnz,)
        """
        gamma = self._explained(documents, documents.counts if counts is None else counts)["gamma"]
        return np.asarray((gamma / gamma.sum(1, keepdim=True)).numpy())

    def log_likelihood(self, documents: Bags) -> Floats:
        """A lower bound on the log probability of each document, as a sequence of its tokens. # (D,)

        With one topic it is exact.
        """
        nothing = torch.zeros(len(documents.indptr) - 1, dtype=torch.float64)  # there are no keywords here
        explained = self._explained(documents, documents.counts)
        bound = terms(keyword_log_probability=nothing, keyword_log_density=nothing, **explained).total()
        return np.asarray(bound.numpy())

    def _explained(self, documents: Bags, counts: NDArray[np.generic]) -> dict[str, torch.Tensor]:
        """The E-step of documents with these counts (nnz,): what `terms` reads."""
        observed = torch.from_numpy(np.asarray(counts, dtype=np.float64))
        log_beta = torch.from_numpy(np.log(self.topic_word.T[documents.words]))  # (nnz, K)
        row = torch.from_numpy(document_of_entry(documents))
        prior = torch.from_numpy(np.tile(self.alpha, (len(documents.indptr) - 1, 1)))  # (D, K)
        gamma, phi = expectation(log_beta, observed, row, prior, iterations=100)
        return {
            "prior": prior,
            "gamma": gamma,
            "phi": phi,
            "word_log_probability": log_beta,
            "counts": observed,
            "row": row,
        }

    def completion(self, documents: Bags, target: Floats, possible: NDArray[np.bool_] | None = None) -> Floats:
        """The log probability of each document's target tokens, predicted from its other tokens. # (D,)

        `target` says how many tokens of each entry are to be predicted (nnz,); with `possible` (V,) it is known that
        they are among these words.
        """
        document = document_of_entry(documents)
        weights = self.infer(documents, counts=documents.counts - target)
        wanted = np.flatnonzero(target)
        probability = (weights[document[wanted]] * self.topic_word.T[documents.words[wanted]]).sum(axis=1)
        if possible is not None:
            probability /= (weights @ self.topic_word[:, possible].sum(axis=1))[document[wanted]]
        total = np.bincount(document[wanted], target[wanted] * np.log(probability), minlength=len(weights))
        return np.asarray(total)

    def completion_score(self, documents: Bags, target: Floats) -> float:
        """The mean log probability of a target token; higher is better."""
        if not target.sum():
            raise DataError("no token is to be predicted: document completion needs longer documents")
        return float(self.completion(documents, target).sum() / target.sum())


def fit_lda(
    documents: Bags,
    n_words: int,
    n_topics: int,
    *,
    seed: int,
    iterations: int = 200,
    alpha: float = ALPHA,
    eta: float = ETA,
) -> LDA:
    """LDA with n_topics over a vocabulary of n_words; α is learnt from `alpha` on, η stays as given.

    >>> from klda.model.bags import TokenBags
    >>> model = fit_lda(TokenBags.of([[0, 1, 0], [3, 4, 3]] * 20), n_words=6, n_topics=2, seed=1)
    >>> model.topic_word.shape, bool(np.allclose(model.topic_word.sum(axis=1), 1))
    ((2, 6), True)
    """
    return next(_fits(documents, n_words, n_topics, [seed], iterations, alpha, eta))


def _fits(
    documents: Bags,
    n_words: int,
    n_topics: int,
    seeds: Iterable[int],
    iterations: int,
    alpha: float = ALPHA,
    eta: float = ETA,
) -> Iterator[LDA]:
    """A fit of the same documents for each seed; they are written out for the sampler once."""
    if n_topics < 1:
        raise SettingError(f"n_topics must be at least 1, got {n_topics}")
    if not documents.counts.sum(dtype=np.int64):
        raise DataError("no document has a word of the vocabulary; LDA has nothing to learn from")
    if int(documents.words.max()) >= n_words:
        raise SettingError(f"word {int(documents.words.max())} lies outside a vocabulary of {n_words} words")
    named = _token_names(documents)
    for seed in seeds:
        sampler = tomotopy.LDAModel(k=n_topics, seed=seed, alpha=alpha, eta=eta)
        for tokens in named:
            sampler.add_doc(tokens)
        sampler.train(iterations, workers=1)
        seen = np.array([int(name) for name in sampler.used_vocabs])
        topic_word = np.full((n_topics, n_words), eta)
        for topic in range(n_topics):
            topic_word[topic, seen] = sampler.get_topic_word_dist(topic, normalize=False)  # counts + η
        topic_word /= topic_word.sum(axis=1, keepdims=True)
        yield LDA(topic_word, np.atleast_1d(np.asarray(sampler.alpha, dtype=np.float64)))


def mean_word_distribution(
    documents: Bags, n_words: int, n_topics: int, *, seeds: int | Sequence[int] = 5, iterations: int = 100
) -> Floats:
    """What documents are about: the mean over seeds of the mean over topics of LDA's word distributions. # (V,)

    The mean settles long before the topics do: from 50 to 800 iterations it moves less than between seeds.

    >>> from klda.model.bags import TokenBags
    >>> a = mean_word_distribution(TokenBags.of([[0, 1], [1, 2]] * 9), n_words=4, n_topics=2)
    >>> bool(a.argmax() == 1 and a[3] < 0.01)
    True
    """
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    fits = _fits(documents, n_words, n_topics, chosen, iterations)
    return np.asarray(np.mean([fit.topic_word.mean(axis=0) for fit in fits], axis=0))


def halves(n_documents: int, *, seed: int) -> tuple[Ints, Ints]:
    """Positions of documents to fit topics on, and of others to measure them on; ascending, at most 10,000 together."""
    order = np.random.default_rng(seed).permutation(n_documents)[:MAX_DOCUMENTS]
    if len(order) < 2:
        raise DataError("at least two documents are needed to choose a number of topics")
    first, second = np.array_split(order, 2)
    return np.sort(first), np.sort(second)


def choose_n_topics(
    train: Bags,
    test: Bags,
    n_words: int,
    *,
    seed: int,
    candidates: Sequence[int] = DEFAULT_GRID,
    seeds: int = 3,
    iterations: int = 100,
    progress: Progress = silent,
) -> int:
    """The fewest topics whose coherence on held-out documents is within one standard error of the best.

    Coherence, because held-out likelihood of short posts keeps rising with the number of topics far beyond what people
    can read. Fitted on some documents, measured on others.
    """
    if not candidates:
        raise SettingError("choose_n_topics needs at least one number of topics to try")
    grid = sorted(set(candidates))
    means, errors = [], []
    for done, n_topics in enumerate(grid, start=1):
        fits = [fit_lda(train, n_words, n_topics, seed=(seed + i) % 2**63, iterations=iterations) for i in range(seeds)]
        scores = np.array([coherence(fit.topic_word, test) for fit in fits])  # (seeds, K)
        means.append(float(scores.mean()))
        errors.append(float(scores.std(axis=1).mean() / np.sqrt(n_topics)))
        progress("choosing the number of topics", done, len(grid), n_topics=n_topics, coherence=means[-1])
    best = int(np.argmax(means))
    return next(k for k, mean in zip(grid, means, strict=True) if mean >= means[best] - errors[best])


def _token_names(documents: Bags) -> list[list[str]]:
    """Each document as a list of strings, which is what tomotopy reads."""
    used, position = np.unique(documents.words, return_inverse=True)
    names = np.array([str(word) for word in used.tolist()], dtype=object)
    tokens = names[np.repeat(position, documents.counts)].tolist()
    ends = np.concatenate([[0], np.cumsum(documents.counts, dtype=np.int64)])[documents.indptr].tolist()
    return [tokens[start:end] for start, end in pairwise(ends)]
