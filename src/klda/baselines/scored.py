"""What policies share that estimate the words of each candidate: Algorithm 2, whose lists replace the current one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from klda.advice.assemble import assemble
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.high_frequency import gained_words, high_frequency_threshold, lost_words
from klda.advice.interval import Interval
from klda.advice.proposal import Proposal
from klda.advice.reasons import in_words
from klda.advice.situation import Situation
from klda.advice.word_counts import keyword_tokens, word_counts
from klda.arrays import Bools, Floats, Ints
from klda.baselines.algorithm2 import Extensions, extend, extend_scored
from klda.baselines.ranked import fitting
from klda.baselines.uncertainty import forecast_measurement, measured_smoothing
from klda.text.corpus import Corpus
from klda.types import Budget, Estimate, Progress, silent

MOST_WORDS = 6
"""Words gained or lost that a reason names."""


def explain(
    evidence: Evidence,
    words: Floats,
    extensions: Extensions,
    distances: Floats | None = None,
    *,
    divergence: str = "kl",
    threshold: float | None = None,
    generator: np.random.Generator,
) -> dict[int, Finding]:
    """The finding on every candidate, measured against the current keyword nearest to it."""
    if threshold is None:
        threshold = high_frequency_threshold(words)
    expected = forecast_measurement(evidence, divergence=divergence, generator=generator)
    findings = {}
    seen = np.isin(extensions.current, evidence.history.observed.values)  # (n,)
    for column in range(len(evidence.candidates)):
        row = _nearest(extensions, column, seen)
        if row is None:
            continue
        extended = int(extensions.current[row])
        gained = _shown(evidence, gained_words(words[extended], words[column], threshold), column)
        lost = _shown(evidence, lost_words(words[extended], words[column], threshold), extended)
        findings[column] = Finding(
            text=in_words("extends", {"nearest": evidence.candidates[extended].text}),
            code="extends",
            divergence=_estimate(expected.divergence, row, column),
            high_frequency_distance=_estimate(expected.distance, row, column),
            gained=gained,
            lost=lost,
            distance_from_subject=None if distances is None else round(float(distances[column]), 3),
            extends=evidence.candidates[extended].text,
            tested=expected.tested,
        )
    return findings


def _nearest(extensions: Extensions, column: int, seen: Bools) -> int | None:
    """The current keyword, of those seen (n,), to which a candidate is nearest; if possible one that it extends."""
    away = np.where(seen & (extensions.current != column), extensions.divergence[:, column], np.inf)  # (n,)
    fits = np.array([column in row for row in extensions.ranked])
    away = np.where(fits, away, np.inf) if np.isfinite(away[fits]).any() else away
    return int(away.argmin()) if np.isfinite(away).any() else None


def _shown(evidence: Evidence, found: Ints, own: int) -> tuple[str, ...]:
    """The first few words as people write them, without the keyword's own and the placeholder for rare ones."""
    vocabulary, its_own = evidence.history.vocabulary, {0, *evidence.history.keyword_words[own].tolist()}
    return tuple(vocabulary.display(int(word)) for word in found if int(word) not in its_own)[:MOST_WORDS]


def _estimate(forecast: Interval, row: int, column: int) -> Estimate | None:
    return forecast.at(row, column) if np.isfinite(forecast.mean[row, column]) else None


@dataclass
class ScoredPolicy:
    """Proposes from a word distribution of every candidate. Policies differ in how they estimate it.

    Each current keyword gives way to the candidates that Algorithm 2 finds for it, `top` of them.
    """

    top: int = 2
    divergence: str = "kl"

    name = ""
    scored_as_measured = True
    """Whether scores are those expected under next window's sample size, rather than the estimates' own."""

    @abstractmethod
    def estimate(
        self, evidence: Evidence, background: Floats, *, generator: np.random.Generator, progress: Progress
    ) -> Floats:
        """The words that each candidate is expected to bring in the next window. # (Q, V)"""

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The extensions of the current keywords in their place; the current list when there are none."""
        evidence = Evidence.of(situation)
        words = self.estimate(evidence, background_of(evidence.history), generator=generator, progress=progress)
        found = self.extensions(evidence, words, generator)
        return proposal_by_extensions(
            self.name,
            evidence,
            situation.budget,
            words,
            found,
            self.top,
            divergence=self.divergence,
            generator=generator,
        )

    def extensions(self, evidence: Evidence, words: Floats, generator: np.random.Generator) -> Extensions:
        """The candidates that qualify to extend each current keyword, the best first."""
        if not self.scored_as_measured:
            return extend(words, evidence.frequency, evidence.current, top=None, divergence=self.divergence)
        prior, strength = measured_smoothing(words.shape[1])
        found, _ = extend_scored(
            words,
            evidence.frequency,
            evidence.current,
            keyword_tokens(evidence.last),
            prior=prior,
            strength=strength,
            generator=generator,
            top=None,
            divergence=self.divergence,
        )
        return found


def proposal_by_extensions(
    name: str,
    evidence: Evidence,
    budget: Budget,
    words: Floats,
    found: Extensions,
    top: int,
    *,
    divergence: str,
    threshold: float | None = None,
    generator: np.random.Generator,
) -> Proposal:
    """The proposal of Algorithm 2: the first `top` extensions of each current keyword, as many as fit the budget."""
    best = np.array(list(dict.fromkeys(int(j) for row in found.ranked for j in row[:top])), dtype=np.int64)
    proposal = assemble(
        name,
        evidence,
        chosen=fitting(evidence, budget, best if len(best) else evidence.current),
        ranked=ranking(found),
        per_keyword=extension_lists(evidence, found, top),
        findings=explain(evidence, words, found, divergence=divergence, threshold=threshold, generator=generator),
        notes=["No candidate qualifies to extend a current keyword, so the list stays."] if found.fell_back else [],
    )
    return replace(proposal, together=found.chance is not None)


def background_of(history: Corpus) -> Floats:
    """The word frequencies of all known posts, also of those without a candidate; never 0. # (V,)"""
    said = word_counts(history) + np.bincount(
        history.apart.words, weights=history.apart.counts, minlength=len(history.vocabulary)
    )
    return np.asarray((said + 1.0) / (said + 1.0).sum())


def extension_lists(evidence: Evidence, extensions: Extensions, top: int) -> dict[str, tuple[str, ...]]:
    """For each current keyword the `top` candidates that extend it."""
    current = evidence.keywords(extensions.current)
    return {k.text: evidence.keywords(row[:top]).texts for k, row in zip(current, extensions.ranked, strict=True)}


def ranking(extensions: Extensions) -> Ints:
    """All candidates: first those that extend a current keyword, by their best place in a list, then by divergence.

    Where the chance to extend the list is known, by that alone.
    """
    nearest = extensions.divergence.min(axis=0)  # (Q,)
    if extensions.chance is not None:
        return np.lexsort((nearest, -extensions.chance))
    place = np.full(len(nearest), np.inf)
    for row in extensions.ranked:
        place[row] = np.minimum(place[row], np.arange(len(row)))
    return np.lexsort((nearest, place))
