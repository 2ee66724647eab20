"""Topics of what a list collects now, and of what another list is predicted to collect: all from one trained KLDA.

The topic-word matrix is a function of the keyword set. So a list that was never used has topics too: those of the
keyword sets that its posts are expected to carry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from klda.arrays import Bools, Floats, Ints
from klda.text.general_frequency import general_frequencies
from klda.types import Keyword

if TYPE_CHECKING:
    from klda.advice.prediction import Expected
    from klda.text.corpus import Corpus

SHOWN_WORDS = 8
"""Words that stand for a topic."""
KEPT_WORDS = 40
"""Words kept of each topic of each candidate: those that set the topic apart."""
COMMON, RARE = 1e-3, 3e-5
"""Shares of a language's words between which a word counts less and less: *make* and *great* say little of a topic."""
LEAST_WEIGHT = 0.1
CLEARLY_MORE = 1.5
"""How much more often a topic must have a word, for the word to be named as new in it."""
MOST_ARRIVING = 4
FEWEST_POSTS, LEAST_SHARE = 5, 0.002
"""Posts, and share of posts, that a word must be in to stand for a topic: rarer ones are chance."""


@dataclass(frozen=True)
class TopicShare:
    """A topic, and how much of the posts it makes up now and with another list."""

    words: tuple[str, ...]
    """Its first words, on average over both lists."""
    now: float
    then: float
    arriving: tuple[str, ...] = ()
    """Words that lead it with the other list alone, and are clearly more frequent there."""


@dataclass(frozen=True)
class Topics:
    """Topics of recent posts, by the candidates that posts carry."""

    shares: Floats  # (patterns, K)  how much of the posts of each pattern each topic makes up
    of_candidate: Floats  # (Q, K)  the same of the posts with each candidate
    words: Floats  # (Q, K, W)  what each topic adds to the words of these posts
    vocabulary: tuple[str, ...]  # (W,)  as people write them
    own: Bools  # (Q, W)  which are words of the candidate itself
    telling: Floats  # (W,)  how much each says of a topic; common words of the language say little

    def of_patterns(self, at: Ints) -> Topics:
        """The same topics for the patterns at these positions only; -1 stands for a pattern that was not looked at."""
        return replace(self, shares=np.where((at >= 0)[:, None], self.shares[at], 0.0))

    def of_candidates(self, at: Ints) -> Topics:
        """The same topics for the candidates at these positions only; -1 stands for an average word."""
        of, words, own = (
            np.concatenate([rows, last])[at]
            for rows, last in (
                (self.of_candidate, self.of_candidate.mean(axis=0, keepdims=True)),
                (self.words, self.words.mean(axis=0, keepdims=True)),
                (self.own, np.zeros((1, self.own.shape[1]), dtype=np.bool_)),
            )
        )
        return replace(self, of_candidate=of, words=words, own=own)

    def of_list(self, weight: Floats, credit: Floats) -> tuple[Floats, Floats]:
        """The share of each topic, and its words, given posts by pattern and by keyword. # (K,), (K, W)"""
        share = weight @ self.shares
        total = share.sum()
        mass = np.maximum(credit @ self.of_candidate, np.finfo(np.float64).tiny)  # (K,)
        return np.asarray(share / total if total else share), np.tensordot(credit, self.words, 1) / mass[:, None]

    def leading(self, words: Floats, hidden: Bools) -> list[list[int]]:
        """The words that set each topic apart: often in it, and more often than in any other. # (K, W)"""
        floor = np.maximum(words, 1e-9)
        apart = words * np.log(floor / floor.mean(axis=0)) * self.telling
        apart[:, hidden] = -np.inf
        best = np.where(words < words.max(axis=0), -np.inf, apart)  # a word stands for one topic
        none = np.asarray(np.isneginf(best).all(axis=1))  # a topic that leads in no word still needs words
        apart = np.where(none[:, None], apart, best)
        order = np.argsort(-apart, axis=1, kind="stable")[:, :SHOWN_WORDS]
        return [[word for word in row if apart[k, word] > -np.inf] for k, row in enumerate(order.tolist())]


def topics_of(found: Expected, posts: Corpus, pattern: Ints, n_patterns: int) -> Topics:
    """The topics of posts; `pattern` (D,) is the pattern of each post.

    A pattern that no post of these has gets no share here; see `filled`.
    """
    n_topics = found.shares.shape[1]
    shares, counts = np.zeros((n_patterns, n_topics)), np.zeros(n_patterns)
    np.add.at(shares, pattern, found.of_posts)
    np.add.at(counts, pattern, found.of_posts.any(axis=1))
    vocabulary, language = posts.vocabulary, posts.vocabulary.language
    shown = [vocabulary.display(int(word)) for word in found.vocabulary]
    telling = _telling(shown, language)
    said = np.bincount(posts.documents.words, minlength=len(vocabulary))[found.vocabulary]  # posts with each word
    speaks = np.array([any(map(str.isalnum, word)) for word in shown])  # symbols say nothing
    kept = _kept(found, telling, speaks & (said >= max(FEWEST_POSTS, LEAST_SHARE * len(posts))))
    own = np.zeros((len(posts.candidates), len(posts.vocabulary)), dtype=np.bool_)
    own[posts.keyword_words.rows, posts.keyword_words.values] = True
    return Topics(
        shares=shares / np.maximum(counts, 1.0)[:, None],
        of_candidate=found.shares,
        words=found.words[:, :, kept],
        vocabulary=tuple(shown[word] for word in kept.tolist()),
        own=own[:, found.vocabulary[kept]],
        telling=telling[kept],
    )


def filled(topics: Topics, pattern: Ints, keyword: Ints) -> Topics:
    """The topics with shares for patterns that no post was looked at of: those of their keywords.

    `pattern` and `keyword` say which pattern carries which candidate. # (entries,) each
    """
    carried = np.zeros(topics.shares.shape)
    np.add.at(carried, pattern, topics.of_candidate[keyword])
    carried /= np.maximum(carried.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    known = topics.shares.sum(axis=1, keepdims=True) > 0
    return replace(topics, shares=np.where(known, topics.shares, carried))


def compared(
    topics: Topics, now: tuple[Floats, Floats], then: tuple[Floats, Floats], columns: Ints
) -> list[TopicShare]:
    """Each topic under two lists, given what `of_list` says of both; the largest first.

    Words of the keywords at `columns` are left out: posts have them because they were asked for.
    """
    hidden: Bools = np.asarray(topics.own[columns].any(axis=0))
    both = topics.leading((now[1] + then[1]) / 2, hidden)  # so that a topic reads the same under both lists
    before, after = (topics.leading(words, hidden) for _, words in (now, then))
    found = []
    for k in range(len(after)):
        more = then[1][k] > CLEARLY_MORE * now[1][k]  # a word that only changed its place is not new
        arriving = [w for w in after[k] if more[w] and w not in before[k]]
        words, new = (tuple(topics.vocabulary[w] for w in some) for some in (both[k], arriving[:MOST_ARRIVING]))
        found.append(TopicShare(words, float(now[0][k]), float(then[0][k]), new))
    return sorted(found, key=lambda topic: -topic.then)


def _telling(words: list[str], language: str) -> Floats:
    """How much each word says of a topic: common words of the language little, rare ones all. # (V,)"""
    common = general_frequencies([Keyword(word or "-") for word in words], language)
    if common is None:
        return np.ones(len(words))
    low, high = np.log(RARE), np.log(COMMON)
    return np.asarray(np.clip((high - np.log(common)) / (high - low), LEAST_WEIGHT, 1.0))


def _kept(found: Expected, telling: Floats, allowed: Bools) -> Ints:
    """The words that set some topic of some candidate apart, among those allowed. # (W,)"""
    kept: set[int] = set()
    for of_candidate in found.words:  # (K, words of the model)
        floor = np.maximum(of_candidate / np.maximum(of_candidate.sum(axis=1, keepdims=True), 1e-12), 1e-12)
        apart = floor * np.log(floor / floor.mean(axis=0)) * telling
        apart[:, ~allowed] = -1.0
        kept.update(np.argsort(-apart, axis=1, kind="stable")[:, :KEPT_WORDS].ravel().tolist())
    return np.array([word for word in sorted(kept) if word and allowed[word]], dtype=np.int64)
