"""What a trained model answers: what keywords bring in, and how it sees documents."""

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
from klda.model.coherence import leading_words
from klda.model.data import TrainingData, training_data
from klda.model.generate import Generated, generate
from klda.model.networks import KeywordBags
from klda.model.objective import Parameters
from klda.model.settings import ModelSettings
from klda.text.corpus import Corpus
from klda.text.documents import Ragged
from klda.text.vocabulary import Vocabulary
from klda.types import Keyword, KeywordSet, as_keywords

Probabilities = NDArray[np.float32]

_SETS_AT_ONCE = 32


class Fitted:
    """The questions to a model that was trained or loaded; `KLDA` adds how it comes to be."""

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
        """Whether training came to parameters that did better on held-out documents than those that it began with.

        False, as it may be with a few hundred documents, means that the model is the one before training.
        """
        stages: dict[str, list[float]] = {}
        for stage, _, bound in self._fitted.history_:
            stages.setdefault(stage, []).append(bound)
        return not stages or any(max(bounds) > bounds[0] for bounds in stages.values())

    def topic_word(self, keywords: Iterable[str | Keyword] | None = None) -> Probabilities:
        """The topic-word matrix that a keyword set implies; of none, the mean over candidates by frequency. # (K, V)"""
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

    def transform(self, corpus: Corpus) -> NDArray[np.float64]:
        """The expected topic weights of each document. # (D, K)"""
        return scores.topic_shares(self._fitted.parameters_, self._data(corpus), self.settings_)

    def log_likelihood(self, corpus: Corpus) -> float:
        """Log-likelihood per word (a lower bound; higher is better), every token of every document counted."""
        data = self._data(corpus)
        if not data.lengths.sum():
            raise DataError("the corpus has no token to judge the model by; give posts that say something")
        per_document = scores.document_log_likelihood(
            self._fitted.parameters_, data, self.settings_, self.word_frequency_
        )
        return float(per_document.sum() / data.lengths.sum())

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
