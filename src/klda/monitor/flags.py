"""What stands against approving a proposal without a person: drift away from the subject, and poisoned keywords.

A keyword is poisoned when few voices make it up: one author, or one text in many copies, holds too large a share of its
posts. Such a word says what somebody wants to be heard, not what people talk about. Reposts that the platform marks as
such are left out: they are how anything popular spreads, and copies that are passed off as posts are not.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from klda.corpus.corpus import Corpus
from klda.policies.proposal import Proposal
from klda.policies.subject import FOUNDING_WINDOWS, SMOOTHING
from klda.policies.word_counts import tokens, word_counts
from klda.selection.anchor import anchored_target, subject_distance
from klda.selection.arrays import Floats, Ints
from klda.selection.word_distribution import from_counts
from klda.types import Budget, Keyword, KeywordSet

MOST_FROM_ONE = 0.2
"""Share of a keyword's posts that one author, or one text, may hold."""
FEWEST = 5
"""Posts of one author or text that raise suspicion at all: of a handful of posts, one is already a fifth."""
ALIKE = 0.7
"""Texts that share this much of their words (Jaccard) are the same text."""
_MOST_COMPARED = 1000
"""Posts compared with each other, drawn at random where there are more."""


def flags(
    proposal: Proposal, corpus: Corpus, first: KeywordSet, *, max_distance: float, budget: Budget, seed: int = 0
) -> tuple[str, ...]:
    """Reasons, in words, why a proposal must not be approved automatically; none when it may be.

    corpus: the windows that the proposal was made from. first: the keywords that people asked for.
    """
    found = [_drift(proposal, corpus, first, max_distance), _cost(proposal, budget)]
    matched = _originals(corpus.window(-1).with_candidates(proposal.next_keywords))
    generator = np.random.default_rng(seed)
    for keyword in proposal.add:
        found += [_one_author(keyword, matched), _one_text(keyword, matched, generator)]
    return tuple(flag for flag in found if flag)


def _drift(proposal: Proposal, corpus: Corpus, first: KeywordSet, limit: float) -> str | None:
    distance = drift(corpus, proposal.next_keywords, first)
    if distance <= limit:
        return None
    return f"the list has drifted from the subject: distance {distance:.2f}, limit {limit:.2f}"


def drift(corpus: Corpus, keywords: KeywordSet, first: KeywordSet) -> float:
    """How far what keywords bring in the last window is from what people first asked for: 0 not at all, 1 wholly.

    What they asked for is half what their first keywords brought at first, half what the same keywords bring now: the
    world may change its words, the list may not change the subject.
    """
    matched = corpus.with_candidates(first | keywords)
    background = word_counts(matched) + 1.0
    background /= background.sum()
    last = matched.window(-1)
    founding = _words(matched.span(0, FOUNDING_WINDOWS), first, background)
    anchor = anchored_target(_words(last, first, background), founding)
    return float(subject_distance(_words(last, keywords, background)[None, :], anchor)[0])


def _words(corpus: Corpus, keywords: KeywordSet, background: Floats) -> Floats:
    """The words of posts that carry any of the keywords. # (V,)"""
    return from_counts(word_counts(corpus.take(corpus.carrying(keywords))), background, SMOOTHING)


def _cost(proposal: Proposal, budget: Budget) -> str | None:
    expected = proposal.expected_posts
    if expected is None or budget.max_posts is None or expected.mean <= budget.max_posts:
        return None
    return f"the list may bring about {expected.mean:,.0f} posts a window, {budget.max_posts:,} are allowed"


def _originals(corpus: Corpus) -> Corpus:
    """The documents that are no reposts."""
    own = corpus.posts.column("repost_of", corpus.documents.post).is_null()
    return corpus.take(np.flatnonzero(np.asarray(own)))


def _one_author(keyword: Keyword, corpus: Corpus) -> str | None:
    rows = corpus.documents.post[corpus.carrying([keyword])]
    authors = Counter(author for author in corpus.posts.column("author", rows).to_pylist() if author)
    most = max(authors.values(), default=0)
    return _flag(keyword, "one author", most, len(rows))


def _one_text(keyword: Keyword, corpus: Corpus, generator: np.random.Generator) -> str | None:
    documents = corpus.carrying([keyword])
    if len(documents) > _MOST_COMPARED:
        documents = np.sort(generator.choice(documents, _MOST_COMPARED, replace=False))
    return _flag(keyword, "one text in many copies", most_alike(corpus, documents), len(documents))


def most_alike(corpus: Corpus, documents: Ints) -> int:
    """How many of these documents share most of their words with the one that has the most such company."""
    words = (tokens(corpus.take(documents))[:, 1:] > 0).astype(np.float64)  # (D, V - 1), without the placeholder
    sizes = np.asarray(words.sum(axis=1))  # (D,)
    shared = (words @ words.T).toarray()  # (D, D)
    either = sizes[:, None] + sizes[None, :] - shared
    alike = (shared >= ALIKE * either) & (sizes[:, None] > 0)
    return int(alike.sum(axis=1).max(initial=0))


def _flag(keyword: Keyword, voice: str, most: int, posts: int) -> str | None:
    if most < FEWEST or most <= MOST_FROM_ONE * posts:
        return None
    return f"{keyword.text}: {most / posts:.0%} of its posts come from {voice}"
