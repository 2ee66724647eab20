"""How many posts a list will bring, also of keywords that the filter has not had so far.

What was collected shows a new keyword only beside an old one. The unfiltered sample shows it alone too, so that a
sampled post counts for as many as the sample leaves out. The policy `klda` counts so itself; for others it is done
here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from klda.advice.evidence import columns_of
from klda.advice.explanation import Reason
from klda.advice.proposal import Proposal
from klda.advice.reasons import posts_in_words
from klda.advice.volume import Seen, weights
from klda.monitor.training_data import Learning
from klda.types import Estimate


def with_forecast(proposal: Proposal, learning: Learning) -> Proposal:
    """The proposal with the posts that each keyword, and the next list as a whole, is expected to bring.

    Without a sample, and where the policy has counted its posts already, it is left as it is.
    """
    if learning.sample is None or not proposal.reasons or proposal.choices is not None:
        return proposal
    keywords = proposal.next_keywords | proposal.current | (reason.keyword for reason in proposal.reasons)
    for active in learning.corpus.history:
        keywords = keywords | active.included
    corpus = learning.corpus.with_candidates(keywords)
    current = columns_of(keywords, proposal.current)
    seen = Seen.of(corpus, weights(corpus, current, learning.share or 1.0))
    each, length = seen.forecast(len(keywords)), corpus.windows[-1].length
    now = seen.expected(current)
    then = seen.expected(columns_of(keywords, proposal.next_keywords)) if proposal.next_keywords else None
    reasons = tuple(_said(reason, each.at(keywords.index(reason.keyword)), length) for reason in proposal.reasons)
    return replace(proposal, reasons=reasons, expected_posts=then, posts_now=now, at_least=False)


def _said(reason: Reason, posts: Estimate, length: timedelta) -> Reason:
    """The reason with another number of expected posts, in its words too."""
    return replace(reason, expected_posts=posts, volume=posts_in_words(posts, length))
