"""What a proposal chose from: everything it takes to choose anew, or to weigh any list, at once and without training.

`reselect` turns the dial between close relatives of the list and new words; `what_if` says what any list would bring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from klda.advice.assemble import Finding, reasons_for
from klda.advice.choose import Scores
from klda.advice.evidence import Evidence, columns_of, limits_of
from klda.advice.proposal import Example, FrontierPoint, Reason
from klda.advice.reasons import explained
from klda.advice.topics import Topics, TopicShare, compared, filled
from klda.advice.word_counts import keyword_word_counts, window_recency, word_counts
from klda.corpus.corpus import Corpus
from klda.corpus.documents import Ragged
from klda.errors import DataError, SettingError
from klda.selection.arrays import Bools, Floats, Ints
from klda.selection.budget import Limits, check_some
from klda.selection.forecast import forecast_posts
from klda.selection.high_frequency import gained_words, high_frequency_threshold, lost_words
from klda.selection.interval import Interval
from klda.selection.word_distribution import from_counts, mixture
from klda.types import Budget, Estimate, KeywordSet

MOST_WORDS = 2_000
"""Words kept of the candidates' distributions: those that some candidate uses most. What is gained or lost is among
the hundred most frequent of a keyword."""
HALF_LIFE = 0.7
"""Windows after which a post counts half for the words that a list is said to bring; those of `counting`."""
SMOOTHING = 100.0
"""Tokens of background that these words are mixed with."""
RECENT_HALF_LIFE = 0.5
"""Windows after which a post counts half for the share of a topic, so that the last window does not decide alone."""
SHOWN_WORDS = 12
"""Words that an outlook names of each kind."""


@dataclass(frozen=True)
class Seen:
    """Posts of past windows by the candidates that they carry; posts that carry the same ones are one pattern."""

    pattern: Ints  # (entries,)
    keyword: Ints  # (entries,)
    posts: Floats  # (patterns, T)
    whole: bool = False
    """Whether posts without a current keyword are among them as often as they occur, so that to count is to know."""

    @classmethod
    def of(cls, history: Corpus, weights: Floats | None = None, *, whole: bool = False) -> Seen:
        """The posts of a history, each counted by its weight (D,)."""
        at, first = patterns(history.observed)
        posts = np.zeros((len(first), history.n_windows))
        np.add.at(posts, (at, history.documents.window), 1.0 if weights is None else weights)
        carried = history.observed.take(first)
        return cls(carried.rows, carried.values.astype(np.int64), posts, whole)

    def carried(self) -> list[bytes]:
        """The candidates of each pattern, as a key."""
        edges = np.searchsorted(self.pattern, np.arange(len(self.posts) + 1))
        return [self.keyword[low:high].tobytes() for low, high in pairwise(edges.tolist())]

    def with_any(self, columns: Ints) -> Bools:
        """Which patterns carry at least one of these candidates. # (patterns,)"""
        carried = np.zeros(len(self.posts), dtype=np.bool_)
        carried[self.pattern[np.isin(self.keyword, columns)]] = True
        return carried

    def together(self, columns: Ints) -> Floats:
        """Posts of each window that carry any of these candidates. # (T,)"""
        return np.asarray(self.posts[self.with_any(columns)].sum(axis=0))

    def brought(self, columns: Ints, n_candidates: int) -> tuple[Floats, Floats]:
        """Recent posts that these candidates bring, by pattern and by candidate; late windows count more.

        A post with several of them is shared equally. # (patterns,), (Q,)
        """
        late = self.posts @ window_recency(self.posts.shape[1], RECENT_HALF_LIFE)
        weight = np.where(self.with_any(columns), late, 0.0)
        inside = np.isin(self.keyword, columns)
        pattern = self.pattern[inside]
        sharers = np.bincount(pattern, minlength=len(weight))
        shared = (weight / np.maximum(sharers, 1))[pattern]
        credit = np.bincount(self.keyword[inside], weights=shared, minlength=n_candidates)
        return weight, np.asarray(credit, dtype=np.float64)

    def each(self, n_candidates: int) -> Floats:
        """Posts of each window that carry each candidate. # (Q, T)"""
        counts = np.zeros((n_candidates, self.posts.shape[1]))
        np.add.at(counts, self.keyword, self.posts[self.pattern])
        return counts


def patterns(observed: Ragged) -> tuple[Ints, Ints]:
    """The pattern of each document, and the first document of each pattern. # (D,), (patterns,)

    >>> patterns(Ragged.of([[0, 1], [1], [0, 1]]))
    (array([0, 1, 0]), array([0, 1]))
    """
    numbers: dict[bytes, int] = {}
    at = [numbers.setdefault(observed[row].tobytes(), len(numbers)) for row in range(len(observed))]
    found = np.array(at, dtype=np.int64)
    return found, np.unique(found, return_index=True)[1]


@dataclass(frozen=True)
class Choices:
    """What a list can be chosen from; a candidate is named by its column. It is `Facts` to those who give reasons."""

    candidates: KeywordSet
    current: Ints
    novelty: float
    """The setting of the dial behind the proposal."""
    scores: Scores
    limits: Limits
    settings: Floats  # (S,)
    sets: tuple[Ints, ...]
    """The best set at each setting of the dial."""
    words: Floats  # (Q, W)
    """What each candidate is expected to bring: the probability of the words that matter."""
    vocabulary: tuple[str, ...]
    """Those words, as people write them."""
    own: Bools  # (Q, W)
    """Which of them are the candidate's own."""
    threshold: float
    """The probability from which on a word is frequent."""
    findings: tuple[Finding, ...]
    frequency: Floats  # (Q,)
    volume: Interval  # (Q,)
    seen: Seen
    length: timedelta
    topics: Topics | None = None
    is_own: bool = True
    """Whether the proposal was chosen by this very dial; other policies choose otherwise, and leave only what-if."""

    def examples(self, column: int) -> tuple[Example, ...]:  # noqa: ARG002
        """None: posts are not kept here, so that one that is deleted is gone."""
        return ()

    def keywords(self, columns: Iterable[int]) -> KeywordSet:
        """The candidates at these columns, in that order."""
        return KeywordSet(tuple(self.candidates[int(column)] for column in columns))

    def expected_posts(self, columns: Ints) -> Estimate:
        """Posts that these candidates together are expected to bring in the next window."""
        found = forecast_posts(self.seen.together(columns)[None, :]).at(0)
        scale = 1.0
        if not self.seen.whole:  # a filter let nothing else in: the mean holds what it missed, too
            mean = self.scores.union.posts(columns)
            scale = mean / found.mean if found.mean else 1.0
            found = Estimate(mean / scale, found.low, found.high)
        return Estimate(*(round(value * scale, 1) for value in (found.mean, found.low, found.high)))

    def with_seen(self, seen: Seen) -> Choices:
        """The same choices, with other posts; topics keep their shares where posts carry the same candidates."""
        if self.topics is None:
            return replace(self, seen=seen)
        rows = {key: row for row, key in enumerate(self.seen.carried())}
        at = np.array([rows.get(key, -1) for key in seen.carried()], dtype=np.int64)
        return replace(self, seen=seen, topics=self.topics.of_patterns(at))

    def with_sample(self, seen: Seen) -> Choices:
        """The same choices, with posts counted anew where an unfiltered sample tells what the filter misses."""
        return replace(self.with_seen(seen), volume=forecast_posts(seen.each(len(self.candidates))))


@dataclass(frozen=True)
class Selection:
    """The list at one setting of the dial."""

    novelty: float
    keep: KeywordSet
    add: KeywordSet
    drop: KeywordSet
    reasons: tuple[Reason, ...]
    expected_posts: Estimate
    retention: float
    new_ground: float

    @property
    def keywords(self) -> KeywordSet:
        """The list."""
        return self.keep | self.add


@dataclass(frozen=True)
class Outlook:
    """What a list would bring in the next window, against the current one."""

    keywords: KeywordSet
    expected_posts: Estimate
    retention: float
    new_ground: float
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    """The words that it would bring most."""
    topics: tuple[TopicShare, ...] = ()
    over: str | None = None
    """The limit that it breaks, in words."""
    held: Mapping[str, str] = field(default_factory=dict)
    """Those of its keywords that a proposal would hold back, and why."""


def reselect(choices: Choices, novelty: float, budget: Budget | None = None) -> Selection:
    """The best list at a setting of the dial, 0 (close relatives) to 1 (new words); with another budget, if given."""
    if not 0 <= novelty <= 1:
        raise SettingError(f"novelty must lie between 0 and 1, got {novelty}")
    limits = choices.limits if budget is None else limits_of(choices.candidates, budget)
    chosen = choices.scores.choose(limits, novelty)
    check_some(chosen)
    score = choices.scores.score(chosen)
    wanted, current = choices.keywords(chosen), choices.keywords(choices.current)
    said = explained(choices.findings, choices.scores, limits, chosen)
    return Selection(
        novelty=novelty,
        keep=wanted & current,
        add=wanted - current,
        drop=current - wanted,
        reasons=reasons_for(choices, chosen, said, {}, required=limits.required),
        expected_posts=choices.expected_posts(chosen),
        retention=score.retention,
        new_ground=score.new_ground,
    )


def frontier_of(choices: Choices) -> list[FrontierPoint]:
    """The list at each setting of the dial, with what it keeps and what it newly brings."""
    points = []
    for setting, chosen in zip(choices.settings, choices.sets, strict=True):
        score = choices.scores.score(chosen)
        points.append(
            FrontierPoint(
                novelty=round(float(setting), 3),
                retention=round(score.retention, 4),
                new_ground=round(score.new_ground, 4),
                expected_posts=round(score.posts, 1),
                keywords=choices.keywords(chosen).texts,
            )
        )
    return points


class OutlookWords(NamedTuple):
    """The words that each candidate brings, for those who compare lists."""

    words: Floats  # (Q, W)
    vocabulary: tuple[str, ...]
    own: Bools  # (Q, W)
    threshold: float


def outlook_words(evidence: Evidence, words: Floats | None = None) -> OutlookWords:
    """The words (Q, V) that posts with each candidate will have, counted where they are not predicted.

    Those are kept that some candidate uses most.
    """
    history = evidence.history
    if words is None:
        background = word_counts(history, HALF_LIFE) + 1.0
        words = from_counts(keyword_word_counts(history, HALF_LIFE), background / background.sum(), SMOOTHING)
    kept = np.sort(np.argsort(-words.max(axis=0), kind="stable")[:MOST_WORDS])
    own = np.zeros(words.shape, dtype=np.bool_)
    own[history.keyword_words.rows, history.keyword_words.values] = True
    shown = tuple(history.vocabulary.display(int(word)) if word else "" for word in kept)
    return OutlookWords(words[:, kept], shown, own[:, kept], high_frequency_threshold(words))


def what_if(choices: Choices, keywords: Iterable[str]) -> Outlook:
    """What any list of candidates would bring; a word that is not among them cannot be weighed."""
    given = KeywordSet.of(*keywords)
    unknown = given - choices.candidates
    if unknown:
        names = ", ".join(unknown.texts)
        raise DataError(f"{names}: not among the candidates of this proposal, so nothing is known of it")
    if not given:
        raise DataError("an empty list brings nothing; tick at least one keyword")
    columns = columns_of(choices.candidates, given)
    score = choices.scores.score(columns)
    now, then = _brought(choices, choices.current), _brought(choices, columns)  # (W,) each
    hidden = choices.own[np.union1d(columns, choices.current)].any(axis=0)
    hidden |= np.array([not word for word in choices.vocabulary])
    dropped = np.setdiff1d(choices.current, columns)
    lost = lost_words(now, then, choices.threshold) if len(dropped) else dropped  # added words take nothing away
    said = explained(choices.findings, choices.scores, choices.limits, columns[np.isin(columns, choices.current)])
    doubted = [c for c in columns.tolist() if c not in choices.current and said[c].code == "not_added"]
    return Outlook(
        keywords=choices.keywords(columns),
        expected_posts=choices.expected_posts(columns),
        retention=score.retention,
        new_ground=score.new_ground,
        gained=_shown(choices, gained_words(now, then, choices.threshold), hidden),
        lost=_shown(choices, lost, hidden),
        top=_shown(choices, np.argsort(-then, kind="stable"), hidden),
        topics=topics_under(choices, columns),
        over=choices.limits.over(columns, score.posts, len(choices.candidates)),
        held={choices.candidates[c].text: said[c].text for c in doubted},
    )


def _brought(choices: Choices, columns: Ints) -> Floats:
    """The words of a list, its keywords weighted by the posts that each brings. # (W,)"""
    return mixture(choices.words[columns], np.maximum(choices.scores.union.credit(columns), 0.5))


def _shown(choices: Choices, words: Ints, hidden: Bools) -> tuple[str, ...]:
    return tuple(choices.vocabulary[word] for word in words[~hidden[words]][:SHOWN_WORDS].tolist())


def topics_under(choices: Choices, columns: Ints) -> tuple[TopicShare, ...]:
    """Each topic under the current list and, predicted, under another; the largest first."""
    topics, seen = choices.topics, choices.seen
    if topics is None:
        return ()
    known = filled(topics, seen.pattern, seen.keyword)
    now, then = (known.of_list(*seen.brought(wanted, len(choices.candidates))) for wanted in (choices.current, columns))
    return tuple(compared(known, now, then, np.union1d(choices.current, columns)))
