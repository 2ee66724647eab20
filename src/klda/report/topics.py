"""Topics of the current list and, predicted, of the proposed one: those of the proposal, or trained for the report."""

from __future__ import annotations

import numpy as np

from klda.advice.choices import topics_under
from klda.advice.evidence import columns_of
from klda.advice.prediction import (
    ENOUGH_POSTS,
    ITERATIONS,
    N_TOPICS,
    N_WORDS,
    RECENT,
    expected,
    recent_posts,
    train_model,
)
from klda.advice.proposal import Proposal
from klda.advice.topics import TopicShare, compared, filled, topics_of
from klda.advice.volume import Seen, patterns
from klda.errors import TrainingError
from klda.text.corpus import Corpus
from klda.types import KeywordSet, Progress, silent


def topics_between(
    proposal: Proposal, corpus: Corpus, *, seed: int = 0, progress: Progress = silent
) -> tuple[tuple[TopicShare, ...], str | None]:
    """Each topic under the current list and the proposed one, and a note where there are none.

    A proposal that was made with a topic model has them; for others a model is trained on the corpus.
    """
    corpus = corpus.without_excluded(proposal.next_keywords.exclusions)
    current, proposed = proposal.current.included, proposal.next_keywords.included
    choices = proposal.choices
    if choices is not None and choices.topics is not None:
        return topics_under(choices, columns_of(choices.candidates, proposed)), None
    try:
        return _trained(corpus, current, proposed, seed, progress), None
    except TrainingError as error:
        return (), str(error)


def _trained(
    corpus: Corpus, current: KeywordSet, proposed: KeywordSet, seed: int, progress: Progress
) -> tuple[TopicShare, ...]:
    both = current | proposed
    history = _recent(corpus).with_candidates(both)
    now, then = (columns_of(both, keywords) for keywords in (current, proposed))
    rows = recent_posts(history, np.union1d(now, then), seed)
    posts = history.take(rows)
    model = train_model(posts, n_topics=N_TOPICS, iterations=ITERATIONS, n_words=N_WORDS, seed=seed, progress=progress)
    found = expected(model, posts, np.random.default_rng(seed))
    seen, (at, first) = Seen.of(history), patterns(history.observed)
    topics = filled(topics_of(found, posts, at[rows], len(first)), seen.pattern, seen.keyword)
    before, after = (topics.of_list(*seen.brought(columns, len(both))) for columns in (now, then))
    return tuple(compared(topics, before, after, np.arange(len(both))))


def _recent(corpus: Corpus) -> Corpus:
    """The last windows where these hold enough posts, so that not all need matching; else all."""
    recent = corpus.span(max(0, corpus.n_windows - RECENT), None)
    return recent if len(recent) >= ENOUGH_POSTS else corpus
