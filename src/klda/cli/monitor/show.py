"""`klda monitor list`, `show` and `history`: all monitors, the state of one, and its keywords over time."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from klda.cli.monitor.proposals import show_waiting
from klda.cli.options import HOME, Home, Name, OutputFormat
from klda.cli.output import Format, out, print_json, print_table

if TYPE_CHECKING:
    from klda.types import Estimate


_GAPS = 20
"""Number of latest gaps that are shown."""


def list_all(home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """List all monitors in a home folder."""
    from klda.monitor.overview import Unreadable, overviews

    found = overviews(home)
    if output is Format.json:
        print_json([one.to_dict() for one in found])
        return
    rows = [
        (o.name, "unreadable", *[""] * 5)
        if isinstance(o, Unreadable)
        else (o.name, o.subject, o.source, len(o.keywords), o.posts, o.running, o.waiting or "nothing")
        for o in found
    ]
    print_table(
        f"Monitors in {home}",
        ("name", "subject", "source", "keywords", "posts", "running", "waits"),
        rows,
        ids=("name", "waits"),
    )
    for one in found:
        if isinstance(one, Unreadable):
            out.print(f"{one.name} cannot be read: {one.unreadable}", markup=False, highlight=False, soft_wrap=True)
    if not found:
        out.print("None yet; make one with: klda monitor create NAME --keywords … --source …", markup=False)


def show(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Show a monitor: keywords, windows, gaps, and proposals that wait for a decision."""
    from klda.monitor.monitor import opened
    from klda.monitor.overview import overview

    with opened(home, name) as monitor:
        state = overview(monitor)
        waiting = monitor.records.proposals.waiting()
        gaps = [asdict(gap) for gap in monitor.records.journal.gaps()[-_GAPS:]]
    if output is Format.json:
        proposal = {"id": waiting.id, "flags": list(waiting.flags)} | waiting.proposal.to_dict() if waiting else None
        times = [gap | {"start": gap["start"].isoformat(), "end": gap["end"].isoformat()} for gap in gaps]
        print_json(state.to_dict() | {"latest_gaps": times, "proposal": proposal})
        return
    facts = {
        "subject": state.subject,
        "source": state.source,
        "policy": state.policy,
        "approval": state.approval,
        "running": state.running,
        "keywords": ", ".join(state.keywords),
        "posts": state.posts,
        "in the unfiltered sample": state.sample,
        "gaps": state.gaps,
    }
    if state.refused:
        facts["the source does not use these keywords yet"] = state.refused
    if state.failure is not None:
        facts |= {"collecting failed": state.failure}
    print_table(f"Monitor {name}", ("what", "value"), facts.items())
    rows = [(w["start"][:16].replace("T", " "), w["posts"], "closed" if w["closed"] else "open") for w in state.windows]
    print_table("Windows", ("start", "posts", "state"), rows)
    if gaps:
        missed = [(f"{g['start']:%Y-%m-%d %H:%M:%S}", f"{g['end']:%Y-%m-%d %H:%M:%S}", g["reason"]) for g in gaps]
        print_table("Gaps", ("from", "until", "why"), missed)
    models = [(m["window"][:10], m["training"], m["bound"], m["words"], m["bytes"], m["path"]) for m in state.models]
    if models:
        print_table("Models", ("up to", "training", "bound", "words", "bytes", "where"), models)
    if waiting is not None:
        show_waiting(name, waiting)


def history(
    name: Name,
    keyword: Annotated[str | None, typer.Option("--keyword", help="Only this keyword, window by window.")] = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Show when each keyword was active, why it was added and dropped, who decided, and expected and actual posts."""
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
