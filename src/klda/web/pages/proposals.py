"""The proposal: which keywords to keep, add and drop and why, the dial, what-if, and the decision."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request, Response
from starlette.responses import RedirectResponse

from klda.advice.choices import Choices, ChosenList, reselect, what_if
from klda.advice.explanation import FrontierPoint, Reason
from klda.errors import KldaError, SettingError
from klda.monitor.background import start
from klda.monitor.jobs import recent
from klda.monitor.monitor import Monitor
from klda.report.charts.proposed_list import frontier
from klda.report.charts.theme import Spec
from klda.store import Job, SavedProposal
from klda.store.sql.journal import OPEN
from klda.streams.platform_rules import NAMES, PLATFORMS, Platform, Rules, platform_rules
from klda.types import Estimate
from klda.web.actions import MOST_NOTE, PROPOSAL, Verdict, decide, the_choices, the_proposal, weighable
from klda.web.forms import typed_keywords
from klda.web.pages.monitor import frame
from klda.web.problems import status_of
from klda.web.rendering import render
from klda.web.studio import Identity, TheMonitor

router = APIRouter()

ProposalId = Annotated[str, Path(pattern=PROPOSAL)]

_UNTOUCHED: Mapping[str, Any] = MappingProxyType({"refused": None, "note": "", "more": ""})
"""The values of a form that was not refused."""


@router.get("/monitors/{name}/proposal")
def newest(request: Request, monitor: TheMonitor) -> Response:
    """The waiting proposal, or the newest one. Without any: how to get one."""
    found = monitor.records.proposals.newest(1)
    return _page(request, monitor, found[0] if found else None)


@router.get("/monitors/{name}/proposals/{proposal}")
def one(request: Request, monitor: TheMonitor, proposal: ProposalId) -> Response:
    """One proposal."""
    return _page(request, monitor, the_proposal(monitor, proposal))


@router.get("/monitors/{name}/proposals/{proposal}/dial")
def dial(
    request: Request, monitor: TheMonitor, proposal: ProposalId, novelty: Annotated[float, Query(ge=0, le=1)]
) -> Response:
    """The part of the page that the dial changes."""
    saved = the_proposal(monitor, proposal)
    choices = weighable(monitor, saved)
    content = _selected(monitor, saved, choices, reselect(choices, novelty))
    return render(request, "proposal_selection.html", **content, more="")


@router.get("/monitors/{name}/proposals/{proposal}/what-if")
def outlook(
    request: Request,
    monitor: TheMonitor,
    proposal: ProposalId,
    keyword: Annotated[list[str], Query(default_factory=list)],
    more: Annotated[str, Query(max_length=5000)] = "",
) -> Response:
    """The posts that the ticked list and the typed words would bring."""
    saved = the_proposal(monitor, proposal)
    choices = weighable(monitor, saved)
    typed = typed_keywords(more)
    wanted = [*keyword, *typed]
    found = what_if(choices, wanted) if wanted else None
    content: dict[str, Any] = {"outlook": found, "budget": monitor.settings.budget, "today": _today(choices)}
    content["typed"] = set(typed)
    content["at_least"] = saved.proposal.at_least
    return render(request, "proposal_outlook.html", **content)


@router.post("/monitors/{name}/propose")
def propose(monitor: TheMonitor, identity: Identity) -> Response:
    """Starts to make a proposal."""
    if not any(job.state in OPEN for job in _jobs(monitor)):
        start(monitor, "propose", asked_by=identity)
    return RedirectResponse(f"/monitors/{monitor.name}/proposal", status_code=303)


@router.post("/monitors/{name}/proposals/{proposal}/decide")
def decided(
    request: Request,
    monitor: TheMonitor,
    proposal: ProposalId,
    identity: Identity,
    verdict: Annotated[Verdict, Form()],
    keyword: Annotated[list[str], Form(default_factory=list, max_length=1000)],
    note: Annotated[str, Form(max_length=MOST_NOTE)] = "",
    more: Annotated[str, Form(max_length=5000)] = "",
) -> Response:
    """Records a decision and shows the result. If it is refused: the reason, and the form as it was filled in."""
    wanted = [*keyword, *typed_keywords(more)]
    saved = the_proposal(monitor, proposal)
    try:
        decide(monitor, saved, verdict, identity=identity, note=note.strip(), keywords=wanted)
    except KldaError as error:
        typed = {"refused": str(error), "note": note, "more": more, "keywords": set(keyword)}
        return _page(request, monitor, the_proposal(monitor, proposal), status=status_of(error), typed=typed)
    return RedirectResponse(f"/monitors/{monitor.name}/proposals/{saved.id}", status_code=303)


def _page(
    request: Request,
    monitor: Monitor,
    saved: SavedProposal | None,
    *,
    status: int = 200,
    typed: Mapping[str, Any] = _UNTOUCHED,
) -> Response:
    jobs = _jobs(monitor)
    content: dict[str, Any] = {
        **frame(monitor),
        "saved": saved,
        "job": next((job for job in jobs if job.state in OPEN), None),
        "last_job": next(iter(jobs), None),
        "here": f"/monitors/{monitor.name}/proposal",
    }
    if saved is None:
        return render(request, "proposal_none.html", **content)
    choices, proposal = the_choices(monitor, saved), saved.proposal
    content |= _selected(monitor, saved, choices, None)
    content |= {
        "has_dial": bool(proposal.frontier and choices and choices.is_own),
        "picture": _frontier(saved, choices.novelty) if choices else None,
        "model": next((m for m in monitor.records.journal.models() if m.id == saved.model), None),
        "rules": _rules(monitor, saved),
        "platform_names": NAMES,
        "others": monitor.records.proposals.newest(8),
    }
    return render(request, "proposal.html", status=status, **{**content, **typed})


def _frontier(saved: SavedProposal, novelty: float) -> Spec | None:
    """The frontier, with each list once, at the setting nearest to the proposal's own.

    None if there is only one list.
    """
    lists: dict[tuple[str, ...], FrontierPoint] = {}
    for point in sorted(saved.proposal.frontier, key=lambda point: abs(point.novelty - novelty)):
        lists.setdefault(tuple(sorted(point.keywords)), point)
    if len(lists) < 2:
        return None
    return _drawn(tuple(lists.values()), saved.proposal.next_keywords.texts)


@lru_cache(maxsize=16)
def _drawn(points: tuple[FrontierPoint, ...], proposed: tuple[str, ...]) -> Spec:
    return frontier(points, proposed)  # cached: drawing it takes longer than the rest of the page


def _rules(monitor: Monitor, saved: SavedProposal) -> list[tuple[Platform, Rules | None, str]]:
    """The change from the active list to the proposed one, as rules of each platform, with the text to paste.

    After the decision, it is the active list. If a platform cannot take the list, the text says why. An empty list has
    no rules.
    """
    active, adjacent = monitor.records.keywords.active(), monitor.settings.adjacent
    wanted, current = (saved.proposal.next_keywords, active) if saved.state == "waiting" else (active, None)
    found: list[tuple[Platform, Rules | None, str]] = []
    for platform in PLATFORMS if wanted else ():
        try:
            made = platform_rules(wanted, platform, current=current, adjacent=adjacent, owner=monitor.name)
        except SettingError as error:
            found.append((platform, None, str(error)))
        else:
            found.append((platform, made, made.text))
    return found


def _selected(
    monitor: Monitor, saved: SavedProposal, choices: Choices | None, found: ChosenList | None
) -> dict[str, Any]:
    """The values of the cards and tick boxes: a list of the dial, or the proposal itself."""
    proposal = saved.proposal
    examples = {reason.keyword.text: reason.examples for reason in proposal.reasons}
    reasons = proposal.reasons if found is None else found.reasons
    keywords = proposal.next_keywords if found is None else found.keywords
    weighed = choices and keywords.included and not keywords.included - choices.candidates
    chosen = what_if(choices, keywords.texts) if choices and weighed else None
    return {
        "monitor": monitor.name,
        "saved": saved,
        "choices": choices,
        "novelty": found.novelty if found else choices.novelty if choices else monitor.settings.novelty,
        "is_proposed": set(keywords.texts) == set(proposal.next_keywords.texts),
        "groups": _groups(reasons),
        "examples": examples,
        "keywords": set(keywords.texts),
        "candidates": _candidates(saved, choices),
        "expected_posts": (found.expected_posts if found else proposal.expected_posts),
        "at_least": proposal.at_least,
        "outlook": chosen,
        "typed": set(),
        "today": _today(choices),
        "budget": monitor.settings.budget,
    }


def _groups(reasons: tuple[Reason, ...]) -> list[tuple[str, str, list[Reason]]]:
    titles = {"add": "Add", "keep": "Keep", "drop": "Drop", "hold": "Held back"}
    return [(action, title, [r for r in reasons if r.action == action]) for action, title in titles.items()]


def _candidates(saved: SavedProposal, choices: Choices | None) -> list[tuple[str, Estimate | None]]:
    """All words that can be ticked: current and proposed keywords first, then the others, by expected posts."""
    proposal = saved.proposal
    if choices is None:
        first = proposal.current | proposal.add
        return [(k.text, reason.expected_posts if (reason := proposal.reason(k)) else None) for k in first]
    first = proposal.current | proposal.add
    rest = sorted(
        (c for c in range(len(choices.candidates)) if choices.candidates[c] not in first),
        key=lambda c: -float(choices.volume.mean[c]),
    )
    columns = [*(choices.candidates.index(k) for k in first if k in choices.candidates), *rest]
    left_out = [(keyword.text, None) for keyword in first.exclusions]
    return [*((choices.candidates[c].text, choices.volume.at(c)) for c in columns), *left_out]


def _today(choices: Choices | None) -> Estimate | None:
    """The expected posts of the current list, for comparison."""
    return choices.expected_posts(choices.current) if choices else None


def _jobs(monitor: Monitor) -> list[Job]:
    """The jobs that make proposals, newest first."""
    return [job for job in recent(monitor, 20) if job.kind in ("propose", "create")]
