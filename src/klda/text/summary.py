"""What a corpus holds, in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klda.text.corpus import Corpus
from klda.types import Window


@dataclass(frozen=True)
class WindowSummary:
    """One window of a corpus."""

    window: Window
    documents: int
    without_keyword: int
    tokens: int


@dataclass(frozen=True)
class CorpusSummary:
    """A corpus as `klda prepare` reports it; tokens are those of the documents."""

    documents: int
    without_keyword: int
    tokens: int
    vocabulary_before: int
    """Distinct words before rare ones became the placeholder; 0 when that is not known."""
    vocabulary: int
    """Words that the model knows, the placeholder not counted."""
    windows: tuple[WindowSummary, ...]


NOTHING = CorpusSummary(documents=0, without_keyword=0, tokens=0, vocabulary_before=0, vocabulary=0, windows=())
"""Of files without a single post."""


def added(parts: Sequence[CorpusSummary]) -> CorpusSummary:
    """The size of the shards of a corpus together."""
    rows = zip(*(part.windows for part in parts), strict=True)
    return CorpusSummary(
        documents=sum(part.documents for part in parts),
        without_keyword=sum(part.without_keyword for part in parts),
        tokens=sum(part.tokens for part in parts),
        vocabulary_before=parts[0].vocabulary_before,
        vocabulary=parts[0].vocabulary,
        windows=tuple(
            WindowSummary(
                row[0].window,
                sum(part.documents for part in row),
                sum(part.without_keyword for part in row),
                sum(part.tokens for part in row),
            )
            for row in rows
        ),
    )


def summarise(corpus: Corpus) -> CorpusSummary:
    """The size of the corpus, in all and for each window."""
    n = corpus.n_windows
    documents = np.bincount(corpus.documents.window, minlength=n)
    apart = np.bincount(corpus.apart.window, minlength=n)
    tokens = np.bincount(corpus.documents.window, weights=corpus.documents.lengths, minlength=n)
    rows = zip(corpus.windows, documents.tolist(), apart.tolist(), tokens.tolist(), strict=True)
    return CorpusSummary(
        documents=len(corpus.documents),
        without_keyword=len(corpus.apart),
        tokens=corpus.documents.n_tokens,
        vocabulary_before=corpus.n_distinct,
        vocabulary=len(corpus.vocabulary) - 1,
        windows=tuple(WindowSummary(window, d, a, int(t)) for window, d, a, t in rows),
    )
