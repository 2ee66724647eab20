"""The report on a proposal: one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from klda.advice.proposal import Proposal
from klda.report import phrases
from klda.report.charts.collected import collected
from klda.report.charts.evolution import evolution
from klda.report.charts.expected import expected
from klda.report.charts.frontier import frontier
from klda.report.charts.theme import ACTIONS, Spec
from klda.report.charts.topics import topics
from klda.report.charts.words import words
from klda.report.content import Comparison, Report, report_of
from klda.report.page import page, write_page
from klda.report.topics import topics_between
from klda.text.corpus import Corpus
from klda.types import Budget, Progress, silent


def render(report: Report) -> str:
    """The page. What the report holds is text, whatever it looks like: nothing in it becomes markup, script or link."""
    return page(
        "report.html",
        _specs(report),
        title=report.title,
        version=report.version,
        report=report,
        proposal=report.proposal,
        summary=phrases.summary(report.proposal, report.budget),
        actions=ACTIONS,
    )


def write(report: Report, path: Path | str) -> None:
    """Writes the page; the file is either the old one or the whole new one, never a part."""
    write_page(render(report), path)


def _specs(report: Report) -> dict[str, Spec]:
    """The pictures that the report has data for, by name."""
    proposal = report.proposal
    next_list = proposal.next_keywords.texts
    specs: dict[str, Spec] = {}
    if any(reason.expected_posts for reason in proposal.reasons):
        specs["expected"] = expected(proposal.reasons, proposal.expected_posts, report.budget.max_posts)
    if report.topics:
        specs["topics"] = topics(report.topics)
    if report.words:
        specs["words"] = words(report.words)
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
    """Writes the report, with the topics of the current list and those predicted for the proposed one."""
    if proposal.choices is not None and proposal.choices.history is not None:
        corpus = proposal.choices.history  # its posts are matched already
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
