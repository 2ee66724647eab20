"""Closed loop: the policy owns the filter from the first window on, and never sees what its filter misses.

Every policy starts from the subject's first list, and may use the same number of terms. Each window has a cap on posts;
above it, a uniform sample is kept. So no policy wins by collecting everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.arrays import Floats, Ints
from klda.baselines.places import USUAL_SOURCES
from klda.errors import DataError, SettingError
from klda.evaluation.archive import Archive, capped
from klda.evaluation.asking import ask_next, policy_of
from klda.evaluation.drift import FOUNDING_WINDOWS, subject_distance
from klda.evaluation.references import LAST_WEEK, NEXT_WEEK, ORACLES, RETRIEVAL
from klda.evaluation.retrieval import retrieved
from klda.evaluation.subjects import Subject
from klda.types import Budget, KeywordSet

STATIC = "static"
"""The yardstick keeps the first list in every window, even if a forecast expects too many posts."""
CAP_FACTOR = 1.5


@dataclass(frozen=True)
class LoopSettings:
    """The rules of a closed loop, the same for every policy."""

    max_terms: int = 10
    cap: int = 1_000
    """Posts that may be collected in a window."""
    sample_rate: float = 0.0
    """Share of the stream that the policy may look at unfiltered."""
    training: str | None = None
    """Folder of a corpus with repost counts, for `viral`."""


@dataclass(frozen=True)
class WeekResult:
    """The result of one window of a closed loop. None: no post was collected, or none was on topic."""

    window: str
    keywords: tuple[str, ...]
    volume: int
    matched: int
    """Posts that the list matched, before the cap."""
    relevant: int | None
    """Posts of the window that are on the subject."""
    recall: float | None
    precision: float | None
    f1: float | None
    retention: float | None
    """Overlap of its words with those that the first list collects in the same window; 1 is all."""
    novelty: float | None
    """Share of the collected posts that the first list would have missed."""
    drift: float | None
    """Distance of its words from the founding windows; 0 is none, 1 shares no word."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def run_closed_loop(
    archive: Archive,
    subject: Subject,
    policy: Policy | str,
    settings: LoopSettings,
    *,
    windows: Sequence[int],
    generator: np.random.Generator,
) -> list[WeekResult]:
    """Each window's result under a policy (a name or an object) or under one of `ORACLES`."""
    if isinstance(policy, str) and policy not in ORACLES:
        policy = policy_of(policy, subject, sample_share=settings.sample_rate or 1.0, training=settings.training)
    beyond = [window for window in windows if not 0 <= window < archive.n_windows]
    if beyond:
        raise SettingError(f"window {beyond[0]}: the archive has {archive.n_windows}, from 0 on")
    keywords = subject.keywords
    lists: list[KeywordSet] = []
    collected: list[Ints] = []
    sampled: list[Ints] = []
    results: list[WeekResult] = []
    founding: Floats | None = None
    # In a burst even the first list brings more than may be collected; that is no reason to give up its keywords.
    most = settings.cap
    for step, window in enumerate(windows):
        if isinstance(policy, str) and policy in NEXT_WEEK and step:
            keywords = NEXT_WEEK[policy](archive, window, subject, settings.max_terms, generator) or keywords
        if policy == RETRIEVAL and step:
            keywords, matched = _by_meaning(archive, window, subject, settings.max_terms)
        else:
            matched = archive.collect(window, keywords)
        caught = capped(matched, settings.cap, generator)
        lists.append(keywords)
        collected.append(caught)
        sampled.append(archive.sample(window, settings.sample_rate, generator))
        static = archive.collect(window, subject.keywords)
        most = max(most, len(static))
        words = _word_share(archive, caught)
        if founding is None or step < FOUNDING_WINDOWS:
            founding = _word_share(archive, np.concatenate(collected))
        results.append(
            WeekResult(
                window=str(archive.corpus.windows[window]),
                keywords=keywords.texts,
                volume=len(caught),
                matched=len(matched),
                **against_labels(archive, subject.labels, window, caught),
                retention=float(np.minimum(words, _word_share(archive, static)).sum()) if len(static) else None,
                novelty=float(np.mean(~np.isin(caught, static))) if len(caught) else None,
                drift=float(subject_distance(words[None], founding)[0]) if len(caught) and founding.any() else None,
            )
        )
        if window == windows[-1]:
            break
        if isinstance(policy, str) and policy in LAST_WEEK:
            keywords = LAST_WEEK[policy](archive, window, subject, settings.max_terms, generator) or keywords
        elif not isinstance(policy, str) and policy.name != STATIC:
            budget = Budget(max_terms=settings.max_terms, max_posts=most)
            known = (archive, policy, lists, collected, sampled)
            try:
                proposal = propose_next(
                    *known, budget, first_window=windows[0], training=settings.training, generator=generator
                )
            except DataError:
                continue  # without an answer, for example because no post was collected, the list stays
            keywords = proposal.next_keywords or keywords
    return results


def _by_meaning(archive: Archive, window: int, subject: Subject, max_terms: int) -> tuple[KeywordSet, Ints]:
    """Posts that no list brings; those of the first list where nothing tells what the subject means."""
    try:
        return KeywordSet(), retrieved(archive, window, subject, max_terms)
    except DataError:
        return subject.keywords, archive.collect(window, subject.keywords)


def propose_next(
    archive: Archive,
    policy: Policy,
    lists: Sequence[KeywordSet],
    collected: Sequence[Ints],
    sampled: Sequence[Ints],
    budget: Budget,
    *,
    first_window: int = 0,
    training: str | None = None,
    generator: np.random.Generator,
) -> Proposal:
    """The proposal for the next window, made from the collected posts and the sample alone."""
    beside = np.concatenate(sampled)
    return ask_next(
        policy,
        archive.read(np.union1d(np.concatenate(collected), beside), lists, first_window=first_window),
        lists[-1],
        budget,
        sources=(*USUAL_SOURCES, "rising"),
        sample=archive.read(beside, lists, first_window=first_window) if len(beside) else None,
        training=training,
        generator=generator,
    )


def volume_cap(archive: Archive, subject: Subject, windows: Sequence[int]) -> int:
    """The cap on posts in a window: 1.5 times the mean volume of the first list."""
    volumes = [len(archive.collect(window, subject.keywords)) for window in windows]
    return max(1, round(CAP_FACTOR * float(np.mean(volumes))))


def _word_share(archive: Archive, positions: Ints) -> Floats:
    """The share of each word in these posts. # (V,)"""
    documents = archive.documents.take(positions)
    counts = np.bincount(documents.words, weights=documents.counts, minlength=len(archive.corpus.vocabulary))
    share: Floats = counts / max(counts.sum(), 1.0)
    return share


def against_labels(archive: Archive, labels: frozenset[str], window: int, caught: Ints) -> dict[str, Any]:
    """Posts on the subject, recall, precision and F1 of what was caught in a window, by posts with these labels.

    If no post is on the subject, recall and F1 are None.
    """
    if not labels:
        return {"relevant": None, "recall": None, "precision": None, "f1": None}
    relevant = archive.on_topic(labels, window)
    hits = len(np.intersect1d(caught, relevant, assume_unique=True))
    return {
        "relevant": len(relevant),
        "recall": hits / len(relevant) if len(relevant) else None,
        "precision": hits / len(caught) if len(caught) else None,
        "f1": 2 * hits / (len(caught) + len(relevant)) if len(relevant) else None,
    }
