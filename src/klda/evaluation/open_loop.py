"""Open loop: the paper's protocol on any archive.

The first week is collected with the subject's keywords, the following weeks with the lists of a fixed rule, so that all
policies see the same history; only posts that those lists match are seen. Then candidates are assembled, each policy
proposes, and the test week, collected with all candidates, tells which proposals were right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from time import perf_counter
from typing import Literal

import numpy as np

from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.arrays import Ints
from klda.baselines.candidates import assemble_candidates
from klda.baselines.viral import NOTHING_RECOMMENDED, Viral
from klda.errors import DataError, SettingError
from klda.evaluation.archive import Archive
from klda.evaluation.metrics import Agreement, keyword_level, set_level
from klda.evaluation.subjects import Subject
from klda.evaluation.truth import Ranking, Truth, TruthReading, TruthSettings, raw_ranking, top_lists
from klda.text.corpus import Corpus
from klda.text.recode import recoded
from klda.types import Keyword, KeywordSet

History = Literal["viral", "static", "full"]
HISTORIES: tuple[History, ...] = ("viral", "static", "full")
LAST_TRUTH = "truth-last-week"
"""A reference: the truth of the last window of the history, proposed for the next one."""
MEASURES = ("accuracy", "coverage", "keyword_accuracy")
MIN_ELIGIBLE = 30
"""Fewest candidates above the frequency threshold for a case to count."""


@dataclass(frozen=True)
class Case:
    """What every policy is asked: to choose the next list from a history, a current list and candidates."""

    subject: Subject
    test_window: int
    history: Corpus
    current: KeywordSet
    candidates: KeywordSet
    test: Corpus
    origin: Mapping[str, str] = field(default_factory=dict)
    """Where each candidate was found."""
    notes: tuple[str, ...] = ()
    viral: Viral | None = None
    """The policy `viral` that was asked for the lists and the candidates."""
    recommended: tuple[Keyword, ...] | None = None
    """What it recommends for the test window; None where it could not learn."""


def open_loop_case(
    archive: Archive,
    subject: Subject,
    test_window: int,
    *,
    weeks: int = 10,
    history: History = "viral",
    viral: Viral | None = None,
    n_candidates: int = 45,
    generator: np.random.Generator,
) -> Case:
    """The case of one subject and one test window, with `weeks` windows of history before it.

    What is known before the test window is read from its own posts alone: no text of the test window has a part in it.
    """
    first = test_window - weeks
    if weeks < 1 or first < 0 or test_window >= archive.n_windows:
        raise SettingError(
            f"test window {test_window} needs {max(weeks, 1)} windows before it; the archive has {archive.n_windows}"
        )
    asked = _Asked(archive, viral or Viral(training=archive.corpus), int(generator.integers(2**31)))
    lists, positions, notes = _collected(asked, subject, first, test_window, history)
    exclusions = subject.keywords.exclusions
    collected = np.concatenate(positions)
    if not len(collected):
        raise DataError(f"subject {subject.name}: no post of the {weeks} windows carries one of its keywords")
    seen = archive.read(collected, lists, first_window=first, every_window=True).without_excluded(exclusions)
    current = lists[-1].included
    try:
        recommended = asked.recommended(test_window - 1, lists[-1], positions[-1])
    except DataError as error:
        recommended, notes = None, (*notes, f"candidates of `viral` are left out: {error}")
    found = assemble_candidates(seen, current, size=n_candidates, viral=recommended or (), generator=generator)
    candidates = found.keywords
    if history == "full":
        whole = candidates | exclusions
        everything = np.concatenate([archive.collect(w, whole) for w in range(first, test_window)])
        seen = archive.read(everything, lists, first_window=first, every_window=True)
    known = seen.with_candidates(candidates).with_history([used.included for used in lists])
    test = archive.seen(
        archive.collect(test_window, candidates | exclusions),
        [candidates],
        first_window=test_window,
        candidates=candidates,
        min_count=1,
    )
    return Case(
        subject,
        test_window,
        known.without_excluded(exclusions).without_apart(),
        current,
        candidates,
        recoded(test, known.vocabulary),
        found.origin,
        (*notes, *found.notes),
        asked.viral,
        recommended,
    )


@dataclass(frozen=True)
class _Asked:
    """The policy `viral` as a case asks it: each week anew, with one seed."""

    archive: Archive
    viral: Viral
    seed: int

    def recommended(self, window: int, current: KeywordSet, positions: Ints) -> tuple[Keyword, ...]:
        """What it recommends after this window, from the posts that the current list collected in it."""
        if not len(positions):
            raise DataError(f"no post of the window {self.archive.corpus.windows[window]} carries the list")
        posts = self.archive.read(positions, [current], first_window=window)
        return tuple(self.viral.recommended(posts, current, generator=np.random.default_rng(self.seed)))


def _collected(
    asked: _Asked, subject: Subject, first: int, test_window: int, history: History
) -> tuple[list[KeywordSet], list[Ints], tuple[str, ...]]:
    """The list of each window, the posts that it collected, and what `viral` could not do.

    A week in which `viral` cannot say anything keeps the list of the week before; it is asked again a week later.
    """
    lists = [subject.keywords]
    positions = [asked.archive.collect(first, subject.keywords)]
    kept: dict[str, list[int]] = {}  # the weeks in which the list stayed, by the reason
    for window in range(first + 1, test_window):
        keywords = lists[-1]
        if history == "viral":
            try:
                found = asked.recommended(window - 1, keywords, positions[-1])
                keywords = KeywordSet(found) | keywords.exclusions if found else keywords
                reason = None if found else NOTHING_RECOMMENDED
            except DataError as error:
                reason = f"the list stays: {error}"
            if reason is not None:
                kept.setdefault(reason, []).append(window - first + 1)
        lists.append(keywords)
        positions.append(asked.archive.collect(window, keywords))
    return lists, positions, tuple(f"{_weeks(weeks)}: {reason}" for reason, weeks in kept.items())


def _weeks(numbers: Sequence[int]) -> str:
    """Weeks in words.

    >>> _weeks([2]), _weeks([2, 3, 5])
    ('week 2', 'weeks 2, 3, 5')
    """
    return f"week{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


@dataclass(frozen=True)
class PolicyAnswer:
    """What one policy proposed in a case, and how long it took."""

    policy: str
    lists: Mapping[str, tuple[str, ...]] | None
    """For each current keyword; None for a policy that proposes one list for all."""
    words: tuple[str, ...]
    seconds: float
    together: tuple[str, ...] | None = None
    """All candidates, the surest first, if one choice of `top` words is made for all keywords together."""

    def proposed(self, top: int) -> Mapping[str, Sequence[str]] | Sequence[str]:
        """The words that count as proposed: `top` for each keyword, or `top` in all if they are chosen together."""
        if self.lists is None:
            return self.words
        if self.together is None:
            return top_lists(self.lists, top)
        surest = set(self.together[:top])
        return {keyword: tuple(word for word in words if word in surest) for keyword, words in self.lists.items()}


def ask(policy: Policy, case: Case, generator: np.random.Generator) -> PolicyAnswer:
    """The policy's answer in a case."""
    start = perf_counter()
    situation = Situation(history=case.history, current=case.current, candidates=case.candidates)
    if isinstance(policy, Viral) and policy is case.viral and case.recommended is not None:
        proposal = policy.proposal(situation, case.recommended)  # it was asked already
    else:
        proposal = policy.propose(situation, generator=generator)
    return answer_of(policy.name, proposal, perf_counter() - start)


def last_truth(case: Case, top: int) -> PolicyAnswer:
    """The answer that nothing will change: the truth, measured on the last week instead of the next one."""
    start = perf_counter()
    lists = top_lists(raw_ranking(case.history.window(-1), case.current, TruthSettings()), top)
    words = tuple(dict.fromkeys(word for found in lists.values() for word in found))
    return PolicyAnswer(LAST_TRUTH, lists, words, perf_counter() - start)


def answer_of(name: str, proposal: Proposal, seconds: float) -> PolicyAnswer:
    """A proposal as the metrics read it."""
    lists = dict(proposal.per_keyword) or None
    together = proposal.ranked.texts if proposal.together else None
    return PolicyAnswer(name, lists, proposal.next_keywords.texts, seconds, together)


def score(answer: PolicyAnswer, truth: Ranking, top: int) -> dict[str, float]:
    """Accuracy and coverage of an answer at set level, and mean accuracy at keyword level."""
    true = top_lists(truth, top)
    if not any(true.values()):
        return dict.fromkeys(MEASURES, nan)
    overall = set_level(answer.proposed(top), true)
    rows = keyword_level(_per_keyword(answer, true, top), true)
    # To propose nothing where there was something to find is wrong, not unknown.
    return {
        "accuracy": _or_zero(overall.accuracy),
        "coverage": overall.coverage,
        "keyword_accuracy": _mean([_or_zero(row.accuracy) for row in rows.values()]),
    }


def _per_keyword(answer: PolicyAnswer, true: Ranking, top: int) -> Mapping[str, Sequence[str]]:
    """The lists of an answer; one list for all is the answer to each keyword."""
    proposed = answer.proposed(top)
    return proposed if isinstance(proposed, Mapping) else dict.fromkeys(true, proposed)


def ceiling(reading: TruthReading, top: int) -> float:
    """How far the truth agrees with itself: accuracy of one half's lists against the other's, both ways."""
    one, other = (top_lists(half, top) for half in reading.halves)
    ways: list[Agreement] = [set_level(one, other), set_level(other, one)]
    return _mean([way.accuracy for way in ways])


def counts(truth: Truth) -> bool:
    """Whether a case has enough candidates to tell policies apart."""
    return truth.n_eligible >= MIN_ELIGIBLE


def _or_zero(value: float) -> float:
    return 0.0 if isnan(value) else value


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan
