"""The report on a proposal, as one HTML file, with the topics of the current and the proposed list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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
from klda.report import wording
from klda.report.charts.keyword_activity import collected, evolution
from klda.report.charts.proposed_list import expected_posts, frontier, topic_bars, word_shifts
from klda.report.charts.theme import ACTIONS, Spec
from klda.report.content import Comparison, Report, report_of
from klda.report.page import page, write_page
from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet, Progress, silent


def render(report: Report) -> str:
    """The page as HTML. The content is always shown as text; it never becomes markup, a script or a link."""
    return page(
        "report.html",
        _specs(report),
        title=report.title,
        version=report.version,
        report=report,
        proposal=report.proposal,
        summary=wording.summary(report.proposal, report.budget),
        actions=ACTIONS,
    )


def write(report: Report, path: Path | str) -> None:
    """Writes the page. The old file is replaced at once, so a file is always complete."""
    write_page(render(report), path)


def _specs(report: Report) -> dict[str, Spec]:
    """The pictures for which the report has data, by name."""
    proposal = report.proposal
    next_list = proposal.next_keywords.texts
    specs: dict[str, Spec] = {}
    if any(reason.expected_posts for reason in proposal.reasons):
        specs["expected"] = expected_posts(proposal.reasons, proposal.expected_posts, report.budget.max_posts)
    if report.topics:
        specs["topics"] = topic_bars(report.topics)
    if report.words:
        specs["words"] = word_shifts(report.words)
    if report.activity:
        actions = {reason.keyword.text: reason.action for reason in proposal.reasons}
        forecast = {
            reason.keyword.text: reason.expected_posts.mean
            for reason in proposal.reasons
            if reason.expected_posts is not None and reason.action in ("keep", "add")
        }
        specs["evolution"] = evolution(report.activity, actions, forecast)
    if any(row.collected for row in report.activity):
        specs["collected"] = collected(report.activity)
    if len({frozenset(point.keywords) for point in proposal.frontier}) > 1:
        specs["frontier"] = frontier(proposal.frontier, next_list)
    return specs


def write_report(
    proposal: Proposal,
    corpus: Corpus,
    path: Path | str,
    *,
    subject: str | None = None,
    budget: Budget | None = None,
    comparison: Comparison | None = None,
    settings: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> None:
    """Writes the report, with the topics of the current list and the predicted topics of the proposed list."""
    if proposal.choices is not None and proposal.choices.history is not None:
        corpus = proposal.choices.history  # its posts are already matched
    topics, note = topics_between(proposal, corpus, seed=seed, progress=progress)
    report = report_of(
        proposal,
        corpus,
        subject=subject,
        budget=budget,
        topics=topics,
        topics_note=note,
        comparison=comparison,
        settings=settings,
    )
    write(report, path)


def topics_between(
    proposal: Proposal, corpus: Corpus, *, seed: int = 0, progress: Progress = silent
) -> tuple[tuple[TopicShare, ...], str | None]:
    """The share of each topic under the current and the proposed list, and a note if there are no topics.

    A proposal made with a topic model has topics. For others, a model is trained on the corpus.
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
    """The last windows if they hold enough posts, so that fewer posts must be matched; otherwise all."""
    recent = corpus.span(max(0, corpus.n_windows - RECENT), None)
    return recent if len(recent) >= ENOUGH_POSTS else corpus
