"""The results of a trained model: the words that keywords bring in, topics of documents, and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from klda.errors import DataError
from klda.model import prior, scores
from klda.model.bags import Floats
from klda.model.bound import expectation
from klda.model.coherence import leading_words
from klda.model.data import TrainingData, data_of_texts, texts_of, training_data
from klda.model.generate import Generated, generate
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags
from klda.model.objective import Parameters
from klda.text.corpus import Corpus
from klda.text.documents import Ragged
from klda.text.vocabulary import Vocabulary
from klda.types import Keyword, KeywordSet, as_keywords

Probabilities = NDArray[np.float32]

NOTHING_SAID = "the corpus has no token to judge the model by; give posts that say something"
_SETS_AT_ONCE = 32
MOST_ITERATIONS = 100
"""Of an E-step whose result is shown."""
ALIKE = 0.2
"""Topics closer to each other than this are nearly alike: half the sum of differences between their words, 0 to 1. On
simulated streams of 70 to 1,500 documents, four topics are 0.04 apart before training and 0.79 or more after it."""


class Fitted:
    """The methods of a trained or loaded model; `KLDA` adds training."""

    n_topics_: int
    settings_: ModelSettings
    parameters_: Parameters
    vocabulary_: Vocabulary
    candidates_: KeywordSet
    keyword_words_: Ragged
    mean_length_: float
    word_frequency_: Floats  # (V,)
    keyword_frequency_: Floats  # (Q,)
    history_: list[tuple[str, int, float]]

    @property
    def has_learnt_(self) -> bool:
        """Whether training improved the bound of held-out documents; True if none were held out.

        False means that the model is as it was before training. That may happen with a few hundred documents.
        """
        stages: dict[str, list[float]] = {}
        for stage, _, bound in self._fitted.history_:
            stages.setdefault(stage, []).append(bound)
        return not stages or any(max(bounds) > bounds[0] for bounds in stages.values())

    def topic_word(self, keywords: Iterable[str | Keyword] | None = None) -> Probabilities:
        """The topic-word matrix of a keyword set; without one, the mean over candidates by frequency. # (K, V)"""
        if keywords is not None:
            matrix: Probabilities = self._distributions([list(as_keywords(keywords))])[0]
            return matrix
        share = self._fitted.keyword_frequency_ / self.keyword_frequency_.sum()
        mean = np.zeros((self.n_topics_, len(self.vocabulary_)), dtype=np.float32)
        for keyword, weight in zip(self.candidates_, share, strict=True):
            mean += np.float32(weight) * self.topic_word([keyword])
        return mean

    def topic_words(self, sets: Sequence[Iterable[str | Keyword]]) -> Iterator[Probabilities]:
        """The topic-word matrix that each of many keyword sets implies, one by one, a few in memory. # (K, V) each"""
        for start in range(0, len(sets), _SETS_AT_ONCE):
            yield from self._distributions([list(one) for one in sets[start : start + _SETS_AT_ONCE]])

    def word_distribution(self, keywords: Iterable[str | Keyword]) -> Probabilities:
        """a(U): the words that a keyword set is expected to bring in, as the mean over its topics. # (V,)"""
        return np.asarray(self.topic_word(keywords).mean(0))

    def word_distributions(self, keywords: Sequence[str | Keyword]) -> Probabilities:
        """a({w}) for each of these keywords alone. # (n, V)"""
        out = np.empty((len(keywords), len(self._fitted.vocabulary_)), dtype=np.float32)
        for row, matrix in zip(out, self.topic_words([[keyword] for keyword in keywords]), strict=True):
            row[:] = matrix.mean(0)
        return out

    def topics(
        self, n_words: int = 10, keywords: Iterable[str | Keyword] | None = None
    ) -> list[list[tuple[str, float]]]:
        """The most probable words of each topic, as people write them, with their probabilities.

        Under the given keywords, or on average over the candidates in proportion to their frequency. The place that
        rare words share is no word and is left out.
        """
        matrix = self.topic_word(keywords)
        return [
            [(self.vocabulary_.display(int(word)), float(row[word])) for word in best]
            for row, best in zip(matrix, leading_words(matrix, n_words), strict=True)
        ]

    def keyword_log_probability(self, keywords: Iterable[str | Keyword]) -> float:
        """log p_kw of a keyword set; its exponential sums to 1 over all non-empty sets."""
        theta = self._fitted.parameters_.theta.detach().double()
        z = torch.zeros_like(theta)
        z[self._columns(keywords)] = 1
        return float(prior.log_probability(z, theta, self.settings_.keyword_penalty))

    @property
    def components_(self) -> Probabilities:
        """The topic-word matrix that `topics()` shows: the mean over candidates by their frequency. # (K, V)

        Each row sums to 1. Column `vocabulary_.index(word)` is that of a word; column 0 is all rare words together.
        """
        return self._fitted.topic_word()

    @property
    def topics_alike_(self) -> bool:
        """Whether all topics have nearly the same words."""
        return self.n_topics_ > 1 and self._topic_distance() < ALIKE

    def transform(self, corpus: Corpus | Iterable[str]) -> NDArray[np.float64]:
        """The expected topic weights of each document of a corpus, or of each of these texts. # (D, K)

        Texts are read with the model's own words and candidates. Of a text without a candidate, the words are taken to
        come from the topics that `components_` has.
        """
        if isinstance(corpus, Corpus):
            return scores.topic_shares(self._fitted.parameters_, self._data(corpus), self.settings_)
        texts = texts_of(corpus)
        data = data_of_texts(texts, self._fitted.vocabulary_, self.candidates_, self.keyword_words_)
        shares = np.empty((len(texts), self.n_topics_))
        carries = data.observed.lengths > 0
        carrying, others = np.flatnonzero(carries), np.flatnonzero(~carries)
        shares[carrying] = scores.topic_shares(self.parameters_, data.pick(carrying), self.settings_)
        if len(others):
            shares[others] = self._shares_without_keyword(data.pick(others))
        return shares

    def log_likelihood(self, corpus: Corpus) -> float:
        """Log-likelihood per word (a lower bound; higher is better), every token of every document counted."""
        data = self._data(corpus)
        if not data.lengths.sum():
            raise DataError(NOTHING_SAID)
        per_document = scores.document_log_likelihood(
            self._fitted.parameters_, data, self.settings_, self.word_frequency_
        )
        return float(per_document.sum() / data.lengths.sum())

    def bound(self, corpus: Corpus) -> float:
        """The bound per word that training raises (higher is better): the number that the paper calls perplexity.

        It adds log p_kw to the bound of the words that are not keywords, which is no log probability of the document.
        To compare models use `log_likelihood` or `completion`.
        """
        data = self._data(corpus)
        if not data.lengths.sum():
            raise DataError(NOTHING_SAID)
        return scores.printed_bound(self._fitted.parameters_, data, self.settings_)

    def completion(self, corpus: Corpus, *, random_state: int = 0) -> float:
        """Log predictive probability a token of one half of each document given the other (higher is better).

        Every token of a word that some candidate covers belongs to the given half, and predictions are among the other
        words: all models predict the same.
        """
        data = self._data(corpus)
        target = scores.completion_targets(data, np.random.default_rng(random_state))
        total, n = scores.completion(self._fitted.parameters_, data, self.settings_, target)
        if not n:
            raise DataError("no token is left to predict: every one belongs to a candidate")
        return total / n

    def sample(
        self, n_documents: int, *, length: float | None = None, poisson: bool = True, random_state: int = 0
    ) -> Generated:
        """Documents drawn from the model: keywords, then topic weights, then words.

        Their mean length is that of the training documents unless given; `poisson=False` makes all equally long.
        """
        parameters = self._fitted.parameters_
        theta = parameters.theta.detach().double().cpu().numpy()

        def topic_prior(columns: tuple[int, ...]) -> NDArray[np.float32]:
            bags = KeywordBags.of([columns], parameters.theta.device)
            with torch.no_grad():
                return np.asarray(parameters.topic_prior(bags)[0].cpu().numpy())

        wanted = self.mean_length_ if length is None else length
        return generate(
            n_documents,
            theta=theta,
            penalty=self.settings_.keyword_penalty,
            keyword_words=self.keyword_words_,
            topic_word=lambda columns: self.topic_word([self.candidates_[j] for j in columns]),
            topic_prior=topic_prior,
            generator=np.random.default_rng(random_state),
            length=wanted if poisson else round(wanted),
            poisson=poisson,
        )

    @torch.no_grad()
    def _shares_without_keyword(self, data: TrainingData) -> NDArray[np.float64]:
        """The expected topic weights of documents without a candidate, under the mean over candidates. # (D, K)"""
        weight = torch.from_numpy(self.keyword_frequency_ / self.keyword_frequency_.sum())
        bags = KeywordBags.of([(column,) for column in range(len(self.candidates_))], self.parameters_.theta.device)
        of_each = self.parameters_.topic_prior(bags).cpu().double()  # (Q, K)
        log_words = torch.from_numpy(self.components_).double().clamp_min(torch.finfo(torch.float64).tiny).log()
        row = torch.from_numpy(np.repeat(np.arange(len(data)), np.diff(data.indptr)))
        gamma, _ = expectation(
            log_words.T[torch.from_numpy(data.words.astype(np.int64))],
            torch.from_numpy(data.counts.astype(np.float64)),
            row,
            (weight[:, None] * of_each).sum(0).expand(len(data), -1),
            iterations=MOST_ITERATIONS,
        )
        shares: NDArray[np.float64] = (gamma / gamma.sum(1, keepdim=True)).numpy()
        return shares

    def _topic_distance(self) -> float:
        """How far topics are from each other: the mean total variation of pairs, under the most frequent candidates."""
        most = np.argsort(-self.keyword_frequency_, kind="stable")[:_SETS_AT_ONCE]
        first, second = np.triu_indices(self.n_topics_, k=1)
        distances = []
        for matrix in self.topic_words([[self.candidates_[int(column)]] for column in most]):
            words = matrix[:, 1:] / np.maximum(matrix[:, 1:].sum(1, keepdims=True), np.finfo(np.float32).tiny)
            distances.append(np.abs(words[first] - words[second]).sum(1).mean() / 2)
        return float(np.mean(distances))

    @property
    def _fitted(self) -> Self:
        if not hasattr(self, "parameters_"):
            raise NotFittedError("this KLDA is not fitted yet; call fit(corpus) first")
        return self

    def _columns(self, keywords: Iterable[str | Keyword]) -> list[int]:
        chosen = list(self.candidates_.spell(as_keywords(keywords)))
        unknown = [str(keyword) for keyword in chosen if keyword not in self.candidates_]
        if unknown:
            raise DataError(
                f"{', '.join(unknown)}: not among the model's {len(self.candidates_)} candidates; "
                f"prepare its corpus with --candidates {','.join(unknown)} (in Python: corpus.with_candidates) and "
                "train again"
            )
        if not chosen:
            raise DataError("a keyword set needs at least one keyword")
        return sorted({self.candidates_.index(keyword) for keyword in chosen})

    @torch.no_grad()
    def _distributions(self, sets: Sequence[Sequence[str | Keyword]]) -> Probabilities:
        """Topic-word matrices of keyword sets. # (n, K, V)"""
        parameters = self._fitted.parameters_
        bags = KeywordBags.of([self._columns(one) for one in sets], parameters.theta.device)
        matrices: Probabilities = parameters.topic_word.log_distribution(bags).exp().cpu().numpy()
        return matrices

    def _data(self, corpus: Corpus) -> TrainingData:
        self._fitted  # noqa: B018
        if corpus.vocabulary.words != self.vocabulary_.words:
            raise DataError("the corpus has another vocabulary; build it with vocabulary=model.vocabulary_")
        if corpus.candidates.texts != self.candidates_.texts:
            raise DataError("the corpus has other candidates; use corpus.with_candidates(model.candidates_)")
        return training_data(corpus)
