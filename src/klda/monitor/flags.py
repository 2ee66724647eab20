"""Flags on a proposal, which stop automatic approval: drift from the subject, too many posts, and poisoned keywords.

A keyword is poisoned if one author, or copies of one text, hold too large a share of its posts. It then shows what
somebody wants others to hear, not what people talk about. Reposts count as copies. Keywords on the current list are
judged like new ones, because an attack may come later.
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
"""Texts are copies if they share this part of their character runs (Jaccard). One word in eight may then differ."""
RUN = 5
CENTRES = 64
"""Posts with which all texts are compared. A text in a fifth of the posts is missed once in a million times."""

_NAMES = re.compile(r"https?://\S+|www\.\S+|@[\w.@-]+")
_NO_LETTERS = re.compile(r"[\W\d_]+")


def most_copies(texts: Sequence[str], generator: np.random.Generator) -> int:
    """The size of the largest group of copies among the texts.

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
    """The part of a text that its copies share. A text with nothing else is returned unchanged.

    >>> core("RT @ann: Red lung is back… 3 WARDS closed https://example.org/9 😷")
    'red lung is back wards closed'
    """
    plain = normalise(text)
    return _NO_LETTERS.sub(" ", _NAMES.sub(" ", plain)).strip().removeprefix("rt ") or plain


def _runs(texts: Sequence[str]) -> csr_array:
    """The character runs of each text. # (D, runs)"""
    numbers: dict[str, int] = {}
    rows = [
        [numbers.setdefault(run, len(numbers)) for run in {t[at : at + RUN] for at in range(max(1, len(t) - RUN + 1))}]
        for t in texts
    ]
    columns = np.fromiter((number for row in rows for number in row), dtype=np.int64)
    ends = np.cumsum([0, *map(len, rows)])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(texts), len(numbers)))


SMOOTHING = 100.0
"""Background tokens with which words are mixed."""
MOST_FROM_ONE = 0.2
"""The largest share of a keyword's posts that one author, or one text, may have."""
ENOUGH = 30
"""The share above applies from this number of posts on. A voice with half of it in truth then exceeds it by chance
in 5 % of the windows at most. Of five posts, two are already more than a fifth: rare keywords would nearly always be
flagged, and a monitor on a small stream would never approve anything automatically (docs/explanation/flags.md).
"""
MOST_OF_FEW = 0.5
FEWEST = 3
"""With fewer posts, one voice may have half of them. One or two posts are never flagged."""
MOST_COMPARED = 5000
"""The most texts of a keyword that are compared, drawn at random. The share is then exact to about 1 %."""


_OF_KEYWORD = re.compile(r"(.+): \d+% of its posts are (?:from one author|copies of one text)", re.DOTALL)


def flagged_keywords(flags: Iterable[str]) -> frozenset[str] | None:
    """The keywords that the flags name, or None if a flag is about the whole list.

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
    """The reasons, in words, why a proposal needs a person. Empty if automatic approval is allowed.

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
    """The distance between the posts of these keywords in the last window and the original subject: 0 to 1.

    Half of the subject is the posts that the first keywords brought at the beginning. The other half is the posts that
    they bring now. So the world may change its words, but the list may not change the subject.
    """
    matched = corpus.with_candidates(first | keywords)
    background = word_counts(matched) + 1.0
    background /= background.sum()
    last = matched.window(-1)
    founding = _words(matched.span(0, FOUNDING_WINDOWS), first, background)
    anchor = anchored_target(_words(last, first, background), founding)
    return float(subject_distance(_words(last, keywords, background)[None, :], anchor)[0])


def _words(corpus: Corpus, keywords: KeywordSet, background: Floats) -> Floats:
    """The words of posts with any of the keywords. # (V,)"""
    return from_counts(word_counts(corpus.take(corpus.carrying(keywords))), background, SMOOTHING)


def _cost(proposal: Proposal, budget: Budget) -> str | None:
    expected = proposal.expected_posts
    if expected is None or budget.max_posts is None or expected.mean <= budget.max_posts:
        return None
    return f"the list may bring about {expected.mean:,.0f} posts a window; the limit is {budget.max_posts:,}"


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
