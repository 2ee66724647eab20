"""How many posts a list will bring, also of keywords that the filter has not had so far.

What was collected shows a new keyword only beside an old one. The unfiltered sample shows it alone too, so that a
sampled post counts for as many as the sample leaves out.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np

from klda.advice.assemble import in_words
from klda.advice.proposal import Proposal, Reason
from klda.corpus.corpus import Corpus
from klda.monitor.learning import Learning
from klda.selection.arrays import Floats
from klda.selection.forecast import forecast_posts
from klda.types import Estimate


def with_forecast(proposal: Proposal, learning: Learning) -> Proposal:
    """The proposal with the posts that each keyword, and the next list as a whole, is expected to bring.

    Without a sample it is left as it is.
    """
    if learning.sample is None or not proposal.reasons:
        return proposal
    weighed = proposal.choices.candidates if proposal.choices else proposal.next_keywords  # all of them borrow strength
    keywords = weighed | proposal.next_keywords | (reason.keyword for reason in proposal.reasons)
    corpus = learning.corpus.with_candidates(keywords)
    weights = learning.weights(corpus)
    each, length = forecast_posts(_counts(corpus, weights)), corpus.windows[-1].length
    reasons = tuple(_said(reason, each.at(keywords.index(reason.keyword)), length) for reason in proposal.reasons)
    return replace(proposal, reasons=reasons, expected_posts=_together(proposal, corpus, weights))


def _said(reason: Reason, posts: Estimate, length: timedelta) -> Reason:
    """The reason with another number of expected posts, in its words too."""
    before = reason.expected_posts
    text = reason.text if before is None else reason.text.replace(in_words(before, length), in_words(posts, length))
    return replace(reason, expected_posts=posts, text=text)


def _counts(corpus: Corpus, weights: Floats) -> Floats:
    """Posts of each window that carry each candidate. # (Q, T)"""
    rows, columns = corpus.observed.rows, corpus.observed.values.astype(np.int64)
    cell = columns * corpus.n_windows + corpus.documents.window[rows]
    shape = (len(corpus.candidates), corpus.n_windows)
    return np.asarray(np.bincount(cell, weights[rows], shape[0] * shape[1]).reshape(shape), dtype=np.float64)


def _together(proposal: Proposal, corpus: Corpus, weights: Floats) -> Estimate | None:
    """Posts that carry any keyword of the next list."""
    if not proposal.next_keywords:
        return None
    inside = corpus.carrying(proposal.next_keywords)
    counts = np.bincount(corpus.documents.window[inside], weights[inside], corpus.n_windows)
    found = forecast_posts(np.asarray(counts[None, :], dtype=np.float64)).at(0)
    return Estimate(round(found.mean, 1), round(found.low, 1), round(found.high, 1))
