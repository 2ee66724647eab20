"""The report on a proposal, from the proposal and the posts behind it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from klda.advice.proposal import Proposal
from klda.corpus.corpus import Corpus
from klda.report.content import Comparison, report_of
from klda.report.html import write
from klda.report.topics import topics_of
from klda.types import Budget


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
) -> None:
    """Writes the report; topics are those of the last window's posts, under the current list and the proposed one."""
    last = corpus.window(-1)
    report = report_of(
        proposal,
        corpus,
        subject=subject,
        budget=budget,
        current_topics=topics_of(last, proposal.current, beside=proposal.next_keywords, seed=seed),
        proposed_topics=topics_of(last, proposal.next_keywords, beside=proposal.current, seed=seed),
        comparison=comparison,
        settings=settings,
    )
    write(report, path)
