"""`klda monitor list` and `klda monitor show`: what monitors there are, and how one stands."""

from __future__ import annotations

from dataclasses import asdict

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.monitor.propose import show_waiting
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json, print_table

_GAPS = 20
"""How many of the latest gaps are shown."""


def list_all(home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """List all monitors of a home."""
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
        facts["these keywords are not followed yet"] = state.refused
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
