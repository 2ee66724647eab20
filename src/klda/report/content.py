"""The content of a report as data; pages and pictures are made from it alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version

import numpy as np

from klda.advice.proposal import Proposal
from klda.advice.topics import TopicShare
from klda.errors import DataError
from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet

_NUMBER = re.compile(r"[-+−±]?[\d.,]+( ?%)?|–|-|")


@dataclass(frozen=True)
class Activity:
    """One keyword in one window."""

    window: datetime
    """Its start."""
    keyword: str
    posts: int
    """Posts that match it."""
    collected: float = 0.0
    """Posts it collected while it was active; a post that matches n active keywords counts 1/n for each."""
    active: bool = False


@dataclass(frozen=True)
class WordChange:
    """The share of posts with a word, under the current and under the proposed list."""

    word: str
    current: float
    proposed: float

    @property
    def difference(self) -> float:
        """The change of the share; positive for a gained word."""
        return self.proposed - self.current


@dataclass(frozen=True)
class Comparison:
    """A table that compares the proposal with other methods or with the truth; the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers; other columns hold text.

        >>> Comparison("", ("list", "recall", "keywords"), (("klda", "44%", "5g, mask"), ("none", "–", ""))).numeric
        (False, True, False)
        """
        cells = [[row[at] for row in self.rows] for at in range(len(self.columns))]
        return tuple(at > 0 and all(map(_NUMBER.fullmatch, column)) for at, column in enumerate(cells))


@dataclass(frozen=True)
class Report:
    """The content of the page; empty parts are not shown."""

    proposal: Proposal
    title: str
    subject: str
    budget: Budget = field(default_factory=Budget)
    activity: tuple[Activity, ...] = ()
    words: tuple[WordChange, ...] = ()
    topics: tuple[TopicShare, ...] = ()
    topics_note: str | None = None
    """Why there are no topics."""
    comparison: Comparison | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings by the names that readers see."""
    version: str = version("klda")

    @property
    def windows(self) -> tuple[datetime, ...]:
        """The starts of all windows, in order."""
        return tuple(sorted({row.window for row in self.activity}))


def report_of(
    proposal: Proposal,
    corpus: Corpus,
    *,
    title: str | None = None,
    subject: str | None = None,
    budget: Budget | None = None,
    topics: Sequence[TopicShare] = (),
    topics_note: str | None = None,
    comparison: Comparison | None = None,
    settings: Mapping[str, str] | None = None,
) -> Report:
    """The report on a proposal; posts and words are counted in the corpus of the proposal."""
    shown = proposal.current | proposal.next_keywords
    for active in corpus.history:
        shown = shown | active
    corpus = corpus.without_excluded(proposal.next_keywords.exclusions)
    shown, current, proposed = shown.included, proposal.current.included, proposal.next_keywords.included
    if not len(shown):
        raise DataError("the proposal has no keyword, so there is nothing to report")
    if any(keyword not in corpus.candidates for keyword in shown):
        corpus = corpus.with_candidates(shown | corpus.candidates)
    subject = subject or ", ".join(proposal.current.texts)
    return Report(
        proposal=proposal,
        title=title or f"Keywords for {subject}",
        subject=subject,
        budget=budget or Budget(),
        activity=activity_in(corpus, shown),
        words=word_changes(corpus.window(-1), current, proposed),
        topics=tuple(topics),
        topics_note=topics_note,
        comparison=comparison,
        settings=dict(settings or {}),
    )


def activity_in(corpus: Corpus, keywords: KeywordSet) -> tuple[Activity, ...]:
    """The posts of each keyword in each window of the corpus."""
    n_columns = len(corpus.candidates)
    documents, columns = corpus.observed.rows, corpus.observed.values  # (total,) each
    windows = corpus.documents.window[documents]  # (total,)
    active = np.zeros((corpus.n_windows, n_columns), dtype=bool)
    for window, history in enumerate(corpus.history):
        active[window, [corpus.candidates.index(k) for k in history if k in corpus.candidates]] = True
    on = active[windows, columns]  # (total,)
    sharers = np.bincount(documents[on], minlength=len(corpus))  # (D,)
    posts = np.zeros((corpus.n_windows, n_columns), dtype=np.int64)
    collected = np.zeros((corpus.n_windows, n_columns))
    np.add.at(posts, (windows, columns), 1)
    np.add.at(collected, (windows[on], columns[on]), 1 / sharers[documents[on]])
    return tuple(
        Activity(
            corpus.windows[window].start,
            keyword.text,
            int(posts[window, column]),
            float(collected[window, column]),
            bool(active[window, column]),
        )
        for keyword in keywords
        for column in [corpus.candidates.index(keyword)]
        for window in range(corpus.n_windows)
    )


def word_changes(window: Corpus, current: KeywordSet, proposed: KeywordSet, most: int = 12) -> tuple[WordChange, ...]:
    """The words that are more frequent, and less frequent, under the proposed list: up to `most` of each.

    They are counted in the posts of one window. The keywords themselves are left out: the proposal shows their changes.
    """
    before, after = (_share_of_posts(window, keywords) for keywords in (current, proposed))  # (V,) each
    change = after - before
    change[0] = 0
    for keyword in current | proposed:
        change[window.keyword_words[window.candidates.index(keyword)]] = 0
    order = np.argsort(-change, kind="stable")
    gained = [word for word in order[:most] if change[word] > 0]
    lost = [word for word in order[::-1][:most] if change[word] < 0]
    return tuple(
        WordChange(window.vocabulary.display(int(word)), float(before[word]), float(after[word]))
        for word in [*gained, *reversed(lost)]
    )


def _share_of_posts(window: Corpus, keywords: KeywordSet) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For each word, the share of the posts with these keywords in which it occurs. # (V,)"""
    documents = (
        window.documents.take(window.carrying(keywords)) if len(keywords) else window.documents.take(slice(0, 0))
    )
    counts = np.bincount(documents.words, minlength=len(window.vocabulary))
    return counts / max(len(documents), 1)
