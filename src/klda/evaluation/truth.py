"""The right keywords, measured on the test window itself.

For each candidate, plain LDA on the test window's posts that carry it gives its word distribution; then the paper's two
criteria choose, exactly as a policy would have. Two readings of the same window:

- **raw**: the paper's. The divergence between two *estimated* distributions grows as posts get few, so this ranking is
  partly a ranking by volume.
- **corrected**: every candidate is measured on equally many posts, those of the rarest one that passes the frequency
  threshold, and scores are averaged over several such samples. The noise is then the same for all.

Each is measured on the whole window and on two disjoint halves; how far the halves agree is the ceiling for any policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from klda.advice.frequency import frequencies
from klda.advice.high_frequency import high_frequency_distance, high_frequency_threshold
from klda.arrays import Bools, Floats, Ints
from klda.baselines.algorithm2 import FREQUENCY_THRESHOLD, extend, rank_extensions
from klda.baselines.divergences import divergence
from klda.model.lda import mean_word_distribution
from klda.text.corpus import Corpus
from klda.types import KeywordSet

Ranking = Mapping[str, tuple[str, ...]]
"""For each current keyword every candidate that qualifies, the best first."""


@dataclass(frozen=True)
class TruthReading:
    """One reading of a window: on all of it, and on two disjoint halves."""

    whole: Ranking
    halves: tuple[Ranking, Ranking]


@dataclass(frozen=True)
class Truth:
    """Both readings of a test window."""

    raw: TruthReading
    corrected: TruthReading
    n_eligible: int
    """Candidates that are frequent enough to be chosen."""


@dataclass(frozen=True)
class TruthSettings:
    """How the truth is measured; the defaults are those of every published number."""

    n_topics: int = 5
    seeds: int = 5
    iterations: int = 50
    """Of LDA: the mean over topics settles by then."""
    equal_samples: int = 10
    """Samples of equal size over which the corrected reading is averaged."""
    min_frequency: float = FREQUENCY_THRESHOLD


def measure_truth(
    test: Corpus, current: KeywordSet, *, generator: np.random.Generator, settings: TruthSettings | None = None
) -> Truth:
    """The truth for a test window that was collected with all of `test.candidates`."""
    settings = settings or TruthSettings()
    shuffled = generator.permutation(len(test))
    middle = len(test) // 2
    parts = [test, test.take(np.sort(shuffled[:middle])), test.take(np.sort(shuffled[middle:]))]
    raw = [raw_ranking(part, current, settings) for part in parts]
    corrected = [corrected_ranking(part, current, settings, generator) for part in parts]
    shares = _shares(test)
    return Truth(
        TruthReading(raw[0], (raw[1], raw[2])),
        TruthReading(corrected[0], (corrected[1], corrected[2])),
        n_eligible=int((shares > settings.min_frequency).sum()),
    )


def raw_ranking(test: Corpus, current: KeywordSet, settings: TruthSettings) -> Ranking:
    """The paper's reading: word distributions from all posts of each candidate."""
    columns = _columns(test, current)
    shares = _shares(test)
    measured = _measurable(shares, columns, settings)
    distributions = _uniform(test)
    for column in np.flatnonzero(measured).tolist():
        distributions[column] = _distribution(test, _carrying(test, column), settings, range(settings.seeds))
    found = extend(
        distributions,
        shares,
        columns,
        top=None,
        threshold=high_frequency_threshold(distributions[measured]),
        min_frequency=settings.min_frequency,
        allowed=measured,
    )
    return _named(test, current, found.ranked)


def corrected_ranking(
    test: Corpus, current: KeywordSet, settings: TruthSettings, generator: np.random.Generator
) -> Ranking:
    """The reading without the bias for volume: each candidate on equally many posts, averaged over samples."""
    columns = _columns(test, current)
    shares = _shares(test)
    measured = _measurable(shares, columns, settings)
    counts = np.rint(shares * len(test)).astype(np.int64)
    size = int(counts[measured & (shares > settings.min_frequency)].min(initial=len(test)))
    divergences, distances = [], []
    for sample in range(settings.equal_samples):
        distributions = _uniform(test)
        for column in np.flatnonzero(measured).tolist():
            posts = _carrying(test, column)
            chosen = np.sort(generator.choice(posts, size=min(size, len(posts)), replace=False))
            distributions[column] = _distribution(test, chosen, settings, [sample])
        threshold = high_frequency_threshold(distributions[measured])
        divergences.append(divergence("kl")(distributions[columns], distributions))
        distances.append(high_frequency_distance(distributions[columns], distributions, threshold))
    found = rank_extensions(
        np.mean(divergences, axis=0),
        np.mean(distances, axis=0),
        shares,
        columns,
        top=None,
        min_frequency=settings.min_frequency,
        allowed=measured,
    )
    return _named(test, current, found.ranked)


def top_lists(ranking: Ranking, top: int) -> dict[str, tuple[str, ...]]:
    """The best few of each list.

    >>> top_lists({"game": ("playing", "tonight", "fun")}, 2)
    {'game': ('playing', 'tonight')}
    """
    return {keyword: words[:top] for keyword, words in ranking.items()}


def _columns(test: Corpus, current: KeywordSet) -> Ints:
    return np.array([test.candidates.index(keyword) for keyword in current], dtype=np.int64)


def _shares(test: Corpus) -> Floats:
    """The share of the window's posts that carry each candidate. # (Q,)"""
    return frequencies(test.observed.indptr, test.observed.values.astype(np.int64), len(test.candidates))


def _measurable(shares: Floats, columns: Ints, settings: TruthSettings) -> Bools:
    """Candidates whose distribution matters: frequent enough to be chosen, or current, and seen at all."""
    measured = shares > settings.min_frequency
    measured[columns] |= shares[columns] > 0
    return np.asarray(measured, dtype=np.bool_)


def _uniform(test: Corpus) -> Floats:
    n_words = len(test.vocabulary)
    return np.full((len(test.candidates), n_words), 1 / n_words)


def _carrying(test: Corpus, column: int) -> Ints:
    return np.flatnonzero(np.bincount(test.observed.rows[test.observed.values == column], minlength=len(test)))


def _distribution(test: Corpus, posts: Ints, settings: TruthSettings, seeds: range | list[int]) -> Floats:
    documents = test.documents.take(posts)
    if not len(documents.words):
        return np.full(len(test.vocabulary), 1 / len(test.vocabulary))
    return mean_word_distribution(
        documents, len(test.vocabulary), settings.n_topics, seeds=list(seeds), iterations=settings.iterations
    )


def _named(test: Corpus, current: KeywordSet, ranked: tuple[Ints, ...]) -> Ranking:
    texts = test.candidates.texts
    return {k.text: tuple(texts[j] for j in row) for k, row in zip(current, ranked, strict=True)}
