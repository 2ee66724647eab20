"""The candidates of a proposal with their scores: for another choice or a forecast of any list, without training.

`reselect` turns the dial between close relatives of the list and new words; `what_if` says what any list would bring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

import numpy as np

from klda.advice.budget import Limits, check_some
from klda.advice.choose import Scores
from klda.advice.constants import WORDS_HALF_LIFE, WORDS_SMOOTHING
from klda.advice.evidence import Evidence, columns_of, limits_of
from klda.advice.explanation import Example, Finding, FrontierPoint, Reason, reasons_for
from klda.advice.high_frequency import gained_words, high_frequency_threshold, lost_words
from klda.advice.interval import Interval
from klda.advice.topics import Topics, TopicShare, compared, filled
from klda.advice.verdicts import explained
from klda.advice.volume import Seen
from klda.advice.word_counts import keyword_word_counts, word_counts
from klda.advice.word_distribution import from_counts, mixture
from klda.arrays import Bools, Floats, Ints
from klda.errors import DataError, SettingError
from klda.text.corpus import Corpus
from klda.types import Budget, Estimate, KeywordSet

MOST_WORDS = 2_000
"""Words kept of the candidates' distributions: the most frequent of each. Gained and lost words are among the hundred
most frequent of a keyword."""
SHOWN_WORDS, REASON_WORDS = 12, 6
"""Words that an outlook and a reason name of each kind."""


@dataclass(frozen=True)
class Choices:
    """Candidates and their scores; a candidate is named by its column. Reasons read it as `Facts`."""

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
    exclusions: KeywordSet = KeywordSet()
    """Exclusions of the current list: all numbers here are of posts without them."""
    is_own: bool = True
    """Whether this dial chose the proposal. For other policies only what-if is possible."""
    history: Corpus | None = field(default=None, compare=False, repr=False)
    """The posts, matched against the candidates; None once the choices were stored."""
    ask: Callable[[KeywordSet], Choices] | None = field(default=None, compare=False, repr=False)
    """Looks further words up in the posts; None once the choices were stored."""

    def examples(self, column: int) -> tuple[Example, ...]:  # noqa: ARG002
        """None: posts are not kept here, so that one that is deleted is gone."""
        return ()

    def keywords(self, columns: Iterable[int]) -> KeywordSet:
        """The candidates at these columns, in that order."""
        return KeywordSet(tuple(self.candidates[int(column)] for column in columns))

    @property
    def at_least(self) -> bool:
        """Whether added words may bring posts that are not among the known ones."""
        return not self.scores.outside_known

    def expected_posts(self, columns: Ints) -> Estimate:
        """Posts that these candidates together are expected to bring in the next window."""
        return self.seen.expected(columns)

    def with_topics_of(self, known: Choices) -> Choices:
        """The same choices with the topics of others that know fewer words. A further word has the average topics."""
        if known.topics is None:
            return self
        place = {keyword.text: column for column, keyword in enumerate(known.candidates)}
        at = np.array([place.get(keyword.text, -1) for keyword in self.candidates], dtype=np.int64)
        rows = {key: row for row, key in enumerate(known.seen.carried(np.arange(len(known.candidates))))}
        patterns = np.array([rows.get(key, -1) for key in self.seen.carried(at)], dtype=np.int64)
        return replace(self, topics=known.topics.of_patterns(patterns).of_candidates(at))


@dataclass(frozen=True)
class ChosenList:
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
    """Keywords that a proposal would not add, each with the reason."""
    reasons: tuple[Reason, ...] = ()
    """What is known of each of its keywords: posts, how many of them are new, and relevance."""
    unknown: tuple[str, ...] = ()
    """Its keywords that no known post has."""


def reselect(choices: Choices, novelty: float, budget: Budget | None = None) -> ChosenList:
    """The best list at a setting of the dial, 0 (close relatives) to 1 (new words); with another budget, if given."""
    if not 0 <= novelty <= 1:
        raise SettingError(f"novelty must lie between 0 and 1, got {novelty}")
    limits = choices.limits if budget is None else limits_of(choices.candidates, budget)
    chosen = choices.scores.choose(limits, novelty)
    check_some(chosen)
    score = choices.scores.score(chosen)
    wanted, current = choices.keywords(chosen), choices.keywords(choices.current)
    said = explained(choices.findings, choices.scores, limits, chosen)
    return ChosenList(
        novelty=novelty,
        keep=wanted & current | choices.exclusions,
        add=wanted - current,
        drop=current - wanted,
        reasons=reasons_for(
            choices, chosen, with_words(choices, said), {}, required=limits.required, at_least=choices.at_least
        ),
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
    """The words that each candidate brings, for the comparison of lists."""

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
        background = word_counts(history, WORDS_HALF_LIFE) + 1.0
        words = from_counts(
            keyword_word_counts(history, WORDS_HALF_LIFE), background / background.sum(), WORDS_SMOOTHING
        )
    kept = np.sort(np.argsort(-words.max(axis=0), kind="stable")[:MOST_WORDS])
    own = np.zeros(words.shape, dtype=np.bool_)
    own[history.keyword_words.rows, history.keyword_words.values] = True
    shown = tuple(history.vocabulary.display(int(word)) if word else "" for word in kept)
    return OutlookWords(words[:, kept], shown, own[:, kept], high_frequency_threshold(words))


def what_if(choices: Choices, keywords: Iterable[str]) -> Outlook:
    """What any list would bring. A word that is no candidate is looked up in the posts, if they are known."""
    given = choices.candidates.spell(KeywordSet.of(*keywords))
    if not given.included:
        raise DataError("an empty list brings nothing; name at least one keyword")
    others = given - choices.candidates - choices.exclusions
    today = choices.scores.union.posts(choices.current)
    if others and choices.ask is None:
        names = ", ".join(others.texts)
        raise DataError(f"{names}: no candidate of this proposal, and its posts are not at hand; make a new proposal")
    if others and choices.ask is not None:
        choices = choices.ask(others)
    columns = columns_of(choices.candidates, given)
    score = choices.scores.score(columns)
    # the share of today's posts that further exclusions leave
    left = choices.scores.union.posts(choices.current) / today if others.exclusions and today else 1.0
    now, then = _brought(choices, choices.current), _brought(choices, columns)  # (W,) each
    hidden = choices.own[np.union1d(columns, choices.current)].any(axis=0)
    hidden |= np.array([not word for word in choices.vocabulary])
    dropped = np.setdiff1d(choices.current, columns)
    lost = lost_words(now, then, choices.threshold) if len(dropped) else dropped  # added words take nothing away
    said = explained(choices.findings, choices.scores, choices.limits, columns[np.isin(columns, choices.current)])
    weighed = with_words(choices, dict(enumerate(choices.findings)))
    doubted = [c for c in columns.tolist() if c not in choices.current and said[c].code in ("not_added", "too_loud")]
    return Outlook(
        keywords=choices.keywords(columns) | given.exclusions,
        expected_posts=choices.expected_posts(columns),
        retention=score.retention * left,
        new_ground=score.new_ground * left,
        gained=_shown(choices, gained_words(now, then, choices.threshold), hidden),
        lost=_shown(choices, lost, hidden),
        top=_shown(choices, np.argsort(-then, kind="stable"), hidden),
        topics=topics_under(choices, columns),
        over=choices.limits.over(columns, score.posts, len(choices.candidates)),
        held={choices.candidates[c].text: said[c].text for c in doubted},
        reasons=reasons_for(choices, columns, weighed, {}, required=columns[:0], at_least=choices.at_least),
        unknown=tuple(choices.candidates[c].text for c in columns.tolist() if not choices.volume.mean[c]),
    )


def with_words(choices: Choices, findings: Mapping[int, Finding]) -> dict[int, Finding]:
    """The findings with the words that each candidate brings more often than the current list does."""
    now = _brought(choices, choices.current)
    hidden = choices.own[choices.current].any(axis=0) | np.array([not word for word in choices.vocabulary])

    def brought(column: int) -> tuple[str, ...]:
        gained = gained_words(now, choices.words[column], choices.threshold)
        return _shown(choices, gained, hidden | choices.own[column])[:REASON_WORDS]

    return {
        column: finding if column in choices.current else replace(finding, gained=brought(column))
        for column, finding in findings.items()
    }


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
