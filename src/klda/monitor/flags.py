"""What stands against approving a proposal without a person: drift away from the subject, and poisoned keywords.

A keyword is poisoned when few voices make it up: one author, or one text in many copies, holds too large a share of its
posts. Such a word says what somebody wants to be heard, not what people talk about. Reposts count as the copies they
are, and keywords that hold already are judged like new ones: an attack may come later.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array

from klda.advice.proposal import Proposal
from klda.advice.word_counts import word_counts
from klda.advice.word_distribution import from_counts
from klda.arrays import Floats
from klda.evaluation.drift import FOUNDING_WINDOWS, anchored_target, subject_distance
from klda.text.corpus import Corpus
from klda.text.tokens import normalise
from klda.types import Budget, Keyword, KeywordSet

ALIKE = 0.5
"""Texts that share this much of their runs of characters (Jaccard) are copies. One word in eight may be another."""
RUN = 5
CENTRES = 64
"""Posts with which all are compared: a text in a fifth of the posts is missed once in a million times."""

_NAMES = re.compile(r"https?://\S+|www\.\S+|@[\w.@-]+")
_NO_LETTERS = re.compile(r"[\W\d_]+")


def most_copies(texts: Sequence[str], generator: np.random.Generator) -> int:
    """How many of the texts are copies of the one that has the most, itself included.

    >>> texts = ["Buy REDLUNG drops now!", "buy redlung drops now https://a.example/7 @ann", "the ward has redlung"]
    >>> most_copies(texts, np.random.default_rng(0))
    2
    """
    if not texts:
        return 0
    cores = Counter(core(text) for text in texts)
    distinct, times = list(cores), np.array(list(cores.values()))
    runs = _runs(distinct)  # (distinct texts, runs)
    sizes = np.asarray(runs.sum(axis=1))
    centres = np.unique(generator.choice(len(distinct), CENTRES, p=times / times.sum()))
    shared = (runs @ runs[centres].T).toarray()  # (distinct texts, centres)
    alike = shared >= ALIKE * (sizes[:, None] + sizes[centres] - shared)
    return int((times @ alike).max())


def core(text: str) -> str:
    """What copies of a text have in common; a text of nothing else stays as it is.

    >>> core("RT @ann: Red lung is back… 3 WARDS closed https://example.org/9 😷")
    'red lung is back wards closed'
    """
    plain = normalise(text)
    return _NO_LETTERS.sub(" ", _NAMES.sub(" ", plain)).strip().removeprefix("rt ") or plain


def _runs(texts: Sequence[str]) -> csr_array:
    """Which runs of characters each text has. # (D, runs)"""
    numbers: dict[str, int] = {}
    rows = [
        [numbers.setdefault(run, len(numbers)) for run in {t[at : at + RUN] for at in range(max(1, len(t) - RUN + 1))}]
        for t in texts
    ]
    columns = np.fromiter((number for row in rows for number in row), dtype=np.int64)
    ends = np.cumsum([0, *map(len, rows)])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(texts), len(numbers)))


SMOOTHING = 100.0
"""Tokens of background that words are mixed with."""
MOST_FROM_ONE = 0.2
"""Share of a keyword's posts that one author, or one text, may hold."""
ENOUGH = 30
"""Posts from which on that share holds: with as many, a voice that has half of it in truth goes over it by chance in
5 % of the windows at most. Of five posts, two are more than a fifth already: held to it, rare keywords are nearly
always flagged, and a monitor on a small stream never approves anything by itself (docs/explanation/flags.md)."""
MOST_OF_FEW = 0.5
FEWEST = 3
"""With fewer posts, one voice must not hold more than half of them, unless they are one or two posts."""
MOST_COMPARED = 5000
"""Texts of a keyword that are compared, drawn at random where there are more: a share is then known to about 1 %."""


_OF_KEYWORD = re.compile(r"(.+): \d+% of its posts are (?:from one author|copies of one text)", re.DOTALL)


def flagged_keywords(flags: Iterable[str]) -> frozenset[str] | None:
    """The keywords that flags are about; None where a flag is about the whole list.

    >>> flagged_keywords(["redlung: 64% of its posts are from one author"])
    frozenset({'redlung'})
    >>> flagged_keywords(["the list is empty: it would collect nothing"]) is None
    True
    """
    found = [_OF_KEYWORD.fullmatch(flag) for flag in flags]
    return None if None in found else frozenset(match[1] for match in found if match)


def flags(
    proposal: Proposal, corpus: Corpus, first: KeywordSet, *, max_distance: float, budget: Budget, seed: int = 0
) -> tuple[str, ...]:
    """Reasons, in words, why a proposal must not be approved automatically; none when it may be.

    corpus: the windows that the proposal was made from. first: the keywords that people asked for.
    """
    if not proposal.next_keywords.included:
        return ("the list is empty: it would collect nothing",)
    corpus, wanted = corpus.without_excluded(proposal.next_keywords.exclusions), proposal.next_keywords.included
    found = [_drift(corpus, wanted, first.included, max_distance), _cost(proposal, budget)]
    matched = corpus.window(-1).with_candidates(wanted)
    generator = np.random.default_rng(seed)
    for keyword in wanted:
        found += [_one_author(keyword, matched), _one_text(keyword, matched, generator)]
    return tuple(flag for flag in found if flag)


def _drift(corpus: Corpus, keywords: KeywordSet, first: KeywordSet, limit: float) -> str | None:
    distance = drift(corpus, keywords, first)
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


def _one_author(keyword: Keyword, corpus: Corpus) -> str | None:
    rows = corpus.documents.post[corpus.carrying([keyword])]
    authors = Counter(author for author in corpus.posts.column("author", rows).to_pylist() if author)
    most = max(authors.values(), default=0)
    return _flag(keyword, "from one author", most, len(rows))


def _one_text(keyword: Keyword, corpus: Corpus, generator: np.random.Generator) -> str | None:
    rows = corpus.documents.post[corpus.carrying([keyword])]
    if len(rows) > MOST_COMPARED:
        rows = np.sort(generator.choice(rows, MOST_COMPARED, replace=False))
    return _flag(keyword, "copies of one text", most_copies(corpus.posts.texts(rows), generator), len(rows))


def _flag(keyword: Keyword, voice: str, most: int, posts: int) -> str | None:
    limit = MOST_FROM_ONE if posts >= ENOUGH else MOST_OF_FEW
    if most < FEWEST or most <= limit * posts:
        return None
    return f"{keyword.text}: {most / posts:.0%} of its posts are {voice}"
