"""The default policy: a keyword-conditioned topic model that lends its strength to recent counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from klda.corpus.corpus import Corpus
from klda.corpus.recode import most_frequent_vocabulary, recoded
from klda.errors import DataError
from klda.policies.company import beside_which, breaking, judged, sighted, untried_tags
from klda.policies.evidence import Evidence
from klda.policies.scored import ScoredPolicy, Verdict
from klda.policies.subject import Subject
from klda.policies.uncertainty import measured_smoothing
from klda.policies.word_counts import keyword_tokens, keyword_word_counts, recency, word_counts
from klda.selection.algorithm2 import Extensions, rank_extensions
from klda.selection.arrays import Floats
from klda.selection.company import BESIDE
from klda.selection.joint import extend_jointly
from klda.selection.word_distribution import from_counts
from klda.types import Progress

if TYPE_CHECKING:
    from klda.model.klda import KLDA

MOST_DOCUMENTS = 2000
"""Recent documents from which the weight of topics is learnt."""
OUTSIDE_TOKENS = 20_000.0
"""Where only posts with a current keyword were collected, a candidate's words are known in their company alone; most of
the posts that it will bring carry none. So many tokens of what is said everywhere stand for those."""
NEWS = 0.3
"""What a word that breaks out beside several keywords is worth by itself, in shares of retention or new ground."""
VALUED = 0.2
"""The same for a keyword that is in use and worth its posts, and for a hashtag or a word to be tried."""
IN_PLACE = 0.1
"""The same for any other first keyword that may stay, beyond what every policy gives a first one."""
NO_NEWS = "seen only beside the list, and no news beside several of its keywords"
IDLE_TAG = "a hashtag of an ordinary word, too seldom used, or beside too few of the first keywords"
"""Why words and hashtags are not added where nothing but the list's own posts is known."""
SETS_PER_KEYWORD = 12
"""Keyword sets over which the words of a keyword are averaged."""


@dataclass
class KLDAPolicy(ScoredPolicy):
    """KLDA: the words that each keyword set implies, as prior for recent counts, scored as next window will be.

    The model is trained on the history (or given, trained, as `model`). The words of a keyword are its expectation over
    the keyword sets that it occurs with, topics weighted by how much they occur with it, keywords included. Recent
    counts, each window worth half of one `half_life` windows later, are shrunk towards that by `strength` tokens: a
    frequent keyword speaks for itself, a rare one borrows strength.
    """

    n_topics: int = 5
    half_life: float = 0.5
    strength: float = 300.0
    iterations: int = 150
    """Of training."""
    n_words: int = 4000
    """The most frequent words are told apart by the model; rarer ones follow the counts alone."""
    model: KLDA | None = None
    fit: Callable[[KLDA, Corpus, Progress], KLDA] | None = None
    """Trains a model elsewhere, on Ray for example; here if left out."""
    scored_as_measured: bool = True
    volume: float = 0.5
    """What a natural logarithm of frequency counts in divergence, where nothing but the list's posts is known."""
    joint: bool = True
    """Whether the candidates that extend the list are chosen together, where more than the list's posts is known."""
    equal_posts: bool = True
    """Whether their chances are also taken with as many posts of each as the rarest has, not on all posts alone."""
    company: bool = True
    """Whether keywords are judged by how common they are and by which of the first keywords their posts carry."""

    name = "klda"

    def estimate(
        self, evidence: Evidence, background: Floats, *, generator: np.random.Generator, progress: Progress
    ) -> Floats:
        """Recent counts with the model as prior. # (Q, V)"""
        history = evidence.history
        model = self.model or self._trained(history, int(generator.integers(2**31)), progress)
        counts = keyword_word_counts(history, self.half_life)
        prior = expected_words(model, history, counts, background, generator)
        from_counts(prior, background, 1.0, out=prior)
        return from_counts(counts, prior, self.strength, out=counts)

    def extensions(self, evidence: Evidence, words: Floats, generator: np.random.Generator) -> Extensions:
        """Candidates by their chance to extend the list; where a filter let nothing else in, by divergence and volume.

        A candidate's own words are then known in the list's company alone: what it would lose of a keyword's cannot be
        told, so R decides nothing, and how often it is seen at all counts beside the divergence.
        """
        if not evidence.collected_only and self.joint and self.scored_as_measured:
            prior, strength = measured_smoothing(words.shape[1])
            return extend_jointly(
                words,
                evidence.frequency,
                evidence.current,
                keyword_tokens(evidence.last),
                prior=prior,
                strength=strength,
                generator=generator,
                top=self.top,
                divergence=self.divergence,
                equal_posts=self.equal_posts,
            )
        if not (self.volume and evidence.collected_only):
            return super().extensions(evidence, words, generator)
        known = keyword_tokens(evidence.history, self.half_life)[:, None] + self.strength
        said = word_counts(evidence.history, 2 * self.half_life) + 1.0
        words = known * words
        from_counts(words, said / said.sum(), OUTSIDE_TOKENS, out=words)
        found = super().extensions(evidence, words, generator)
        away = found.divergence - self.volume * np.log(np.maximum(evidence.frequency, 1e-9))
        ranked = rank_extensions(away, np.zeros_like(away), evidence.frequency, evidence.current, top=None)
        return replace(ranked, divergence=found.divergence, distance=found.distance)

    def verdict(self, evidence: Evidence, subject: Subject, distances: Floats) -> Verdict:
        """As for every scored policy; besides, a keyword has to make the list better by its posts.

        Where a filter let nothing else in, that cannot be told of words which are not on the list: only news and
        hashtags come in. They, and first keywords in their place, are worth something by themselves.
        """
        plain = super().verdict(evidence, subject, distances)
        if not self.company:
            return plain
        held, worth, first = plain.held, plain.worth, subject.protected
        news = breaking(evidence, first)
        if evidence.collected_only and not evidence.unseen:
            listed = judged(evidence, first)
            others = np.setdiff1d(np.arange(len(evidence.candidates)), listed.columns)
            tag = [evidence.candidates[c].text.startswith("#") for c in others]
            unknown = dict(zip(others.tolist(), np.where(tag, IDLE_TAG, NO_NEWS).tolist(), strict=True))
            to_try = untried_tags(evidence, first, listed.needed)
            speaks = {
                c: f"a hashtag to try, in use beside {beside_which(evidence, c, first, evidence.history)}"
                for c in to_try.tolist()
            }
        else:
            listed = judged(evidence, first, sampled=True)
            elsewhere = sighted(evidence, first, listed)
            unknown, speaks, to_try = elsewhere.unproven(), elsewhere.proven(), elsewhere.to_try(len(first))
        speaks |= {
            c: f"breaks out beside {beside_which(evidence, c, first, evidence.last, BESIDE)}" for c in news.tolist()
        }
        speaks |= listed.back_in_place(evidence.current)
        unknown = {column: why for column, why in unknown.items() if column not in speaks}
        required = set(evidence.required.tolist())
        found = {c: why for c, why in (unknown | held | listed.out_of_place()).items() if c not in required}
        worth[first] = IN_PLACE
        proven = listed.columns[listed.worth & (evidence.frequency[listed.columns] > 0)]
        worth[np.union1d(to_try, proven)] = VALUED
        worth[news] = NEWS
        worth[list(found)] = 0.0
        return Verdict(found, worth, {c: why for c, why in speaks.items() if c not in found})

    def _trained(self, history: Corpus, seed: int, progress: Progress) -> KLDA:
        from klda.model.klda import KLDA  # brings torch

        model = KLDA(
            n_topics=self.n_topics,
            pretraining_iterations=self.iterations,
            max_iterations=0,
            half_life=2 * self.half_life,
            random_state=seed,
        )
        corpus = recoded(history, most_frequent_vocabulary(history, self.n_words))
        return model.fit(corpus, progress=progress) if self.fit is None else self.fit(model, corpus, progress)


def expected_words(
    model: KLDA, history: Corpus, counts: Floats, background: Floats, generator: np.random.Generator
) -> Floats:
    """Tokens that the model expects from posts with each keyword, as many as were counted (Q, V). # (Q, V)

    The model explains the words that are not keywords; those that are come from the counts themselves. What it does
    not tell apart, rare words and candidates it was not trained on, is as in the background (V,).
    """
    words = np.array([history.vocabulary.index(word) for word in model.vocabulary_.words])  # (words of the model,)
    if (words[1:] == 0).any():
        raise DataError(
            "the model has another vocabulary than the posts; prepare them with vocabulary=model.vocabulary_"
        )
    rare = np.ones(len(history.vocabulary), dtype=np.bool_)
    rare[words[1:]] = False
    known = history if model.candidates_ == history.candidates else history.with_candidates(model.candidates_)
    averaged = _averaged(model, recoded(known, model.vocabulary_), generator)  # (Q of the model, words of the model)
    modelled = np.tile(background, (len(history.candidates), 1))
    for row, keyword in enumerate(model.candidates_):
        if keyword in history.candidates:
            column = history.candidates.index(keyword)
            modelled[column, rare] *= averaged[row, 0] / background[rare].sum()
            modelled[column, words[1:]] = averaged[row, 1:]

    is_keyword = np.zeros(len(history.vocabulary), dtype=np.bool_)
    is_keyword[history.keyword_words.values] = True
    rest = counts @ (~is_keyword).astype(np.float64)  # (Q,) tokens for the model to explain
    modelled[:, is_keyword] = 0.0
    modelled *= (rest / np.maximum(modelled.sum(axis=1), np.finfo(np.float64).tiny))[:, None]  # nothing left: nothing
    modelled[:, is_keyword] = counts[:, is_keyword]
    return modelled


def _averaged(model: KLDA, history: Corpus, generator: np.random.Generator) -> Floats:
    """The model's words for each keyword, over keyword sets that it occurred with, recent ones more likely. # (Q, V)"""
    observed, weight = history.observed, recency(history, 1.0)
    by_keyword = np.argsort(observed.values, kind="stable")
    edges = np.searchsorted(observed.values[by_keyword], np.arange(len(history.candidates) + 1))
    documents = observed.rows[by_keyword]
    uses: dict[tuple[int, ...], Counter[int]] = {}  # how often each keyword is averaged over each set
    for column in range(len(history.candidates)):
        mine = documents[edges[column] : edges[column + 1]]
        sets = [(column,)] * SETS_PER_KEYWORD
        if len(mine):
            chance = weight[mine] / weight[mine].sum()
            sets = [tuple(observed[int(d)].tolist()) for d in generator.choice(mine, SETS_PER_KEYWORD, p=chance)]
        for keywords in sets:
            uses.setdefault(keywords, Counter())[column] += 1
    shares = _topic_shares(model, history)  # (Q, K)
    shares /= shares.sum(axis=1, keepdims=True)
    result = np.zeros((len(history.candidates), len(history.vocabulary)))
    matrices = model.topic_words([[history.candidates[k] for k in keywords] for keywords in uses])
    for matrix, columns in zip(matrices, uses.values(), strict=True):
        rows = list(columns)
        part = shares[rows] * (np.array(list(columns.values())) / SETS_PER_KEYWORD)[:, None]  # (users, K)
        result[rows] += part @ matrix.astype(np.float64)
    return result


def _topic_shares(model: KLDA, history: Corpus) -> Floats:
    """How much of the recent posts with each keyword each topic makes up; even for a keyword without any. # (Q, K)"""
    recent = history.take(slice(max(0, len(history) - MOST_DOCUMENTS), None))
    weights = model.transform(recent)  # (D, K)
    shares = np.full((len(history.candidates), weights.shape[1]), 1e-3)
    np.add.at(shares, recent.observed.values, weights[recent.observed.rows])
    return shares
