"""`klda monitor history`: every keyword that came and went, why, and what it brought."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, print_json, print_table

if TYPE_CHECKING:
    from klda.types import Estimate


def history(
    name: Name,
    keyword: Annotated[str | None, typer.Option("--keyword", help="Only this keyword, window by window.")] = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Show when each keyword was active, why it came and went, who decided, and expected against actual posts."""
    from klda.monitor.history import history as work
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        stories = work(monitor, keyword)
        proposals = monitor.records.proposals.newest()
        models = monitor.records.journal.models()
    if output is Format.json:
        plain = [
            {"id": p.id, "window": p.proposal.window, "state": p.state, "flags": list(p.flags), "model": p.model}
            for p in proposals
        ]
        told = {"keywords": [story.to_dict() for story in stories], "proposals": plain}
        print_json(told | {"models": [model.to_dict() for model in models]})
        return
    spans = [
        (s.keyword, _day(span.started), _day(span.ended) if span.ended else "active", span.decided_by, span.reason)
        for s in stories
        for span in s.spans
    ]
    print_table(f"Keywords of {name}", ("keyword", "from", "until", "decided by", "why"), spans)
    weeks = [
        (s.keyword, _day(week.start), week.expected and _posts(week.expected), week.realised)
        for s in stories
        for week in s.windows
    ]
    print_table("Windows in which they were active", ("keyword", "window", "expected", "realised"), weeks)
    if keyword is not None:
        return
    rows = [(p.id, (p.proposal.window or "")[:10], p.state, p.model or "", "; ".join(p.flags)) for p in proposals]
    print_table("Proposals", ("id", "for", "state", "model", "flags"), rows, ids=("id",))
    if models:
        kept = [(m.id, _day(m.window_start), m.facts.get("training"), m.facts.get("bound"), m.path) for m in models]
        print_table("Models", ("id", "up to", "training", "bound", "where"), kept, ids=("id",))


def _posts(expected: Estimate) -> dict[str, int]:
    """An estimate in whole posts."""
    return {name: round(value) for name, value in asdict(expected).items()}


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"
