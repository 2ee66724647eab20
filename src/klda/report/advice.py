"""The report on a proposal, from the proposal and the posts behind it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from klda.advice.proposal import Proposal
from klda.report.content import Comparison, report_of
from klda.report.html import write
from klda.report.topics import topics_between
from klda.text.corpus import Corpus
from klda.types import Budget, Progress, silent


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
