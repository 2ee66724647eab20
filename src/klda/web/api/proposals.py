"""Proposals: the advice and its reasons, the dial, what-if, decisions, and rules for platforms."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from klda.advice.choices import ChosenList, reselect, what_if
from klda.advice.explanation import Reason
from klda.monitor.background import start
from klda.monitor.monitor import Monitor
from klda.monitor.rules import rules as monitor_rules
from klda.store import SavedProposal
from klda.streams.platform_rules import Platform
from klda.types import Budget, Estimate
from klda.web.actions import MOST_NOTE, PROPOSAL, Verdict, decide, the_proposal, weighable
from klda.web.api.answers import Answer, EstimateAnswer, JobAnswer, KeywordTexts
from klda.web.api.jobs import answer_for
from klda.web.problems import documented
from klda.web.studio import Identity, TheMonitor

router = APIRouter()

ProposalId = Annotated[str, Path(pattern=PROPOSAL, description="Id of the proposal.")]
Text = Annotated[str, Field(min_length=1, max_length=200)]
Limit = Annotated[int | None, Query(ge=1, le=1_000_000_000)]


class ReasonAnswer(BaseModel):
    """Why a keyword is kept, added, dropped or held back."""

    keyword: str
    forms: list[str] = Field(description="The words that are matched for it.")
    action: Literal["keep", "add", "drop", "hold"]
    text: str = Field(description="The reason in words.")
    volume: str = Field(description="Its posts, and how many of them are new, in words.")
    code: str = Field(description="The reason as a code, for programs.")
    relevance: float | None = Field(description="Probability that its new posts are on the subject.")
    new_posts: float | None = Field(description="Expected posts that the current list does not bring.")
    expected_posts: EstimateAnswer | None = Field(description="Expected posts in the next window.")
    gained: list[str]
    lost: list[str]
    extends: str | None
    examples: list[str] = Field(description="Posts with the keyword. Their texts are from strangers.")


class ProposalSummary(BaseModel):
    """A proposal in the list of proposals."""

    id: str
    made: datetime
    state: Literal["waiting", "approved", "edited", "rejected", "superseded"]
    policy: str
    add: list[str]
    drop: list[str]
    flags: list[str] = Field(description="Why it needs a person.")


class FrontierAnswer(Answer):
    """The best list at one setting of the dial."""

    novelty: float
    retention: float
    new_ground: float
    expected_posts: float
    keywords: list[str]


class DecisionAnswer(Answer):
    """A decision, and who made it."""

    verdict: Verdict
    decided_by: str
    made: datetime
    note: str
    keywords: KeywordTexts


class ProposalAnswer(ProposalSummary):
    """A proposal with its reasons."""

    current: list[str]
    keep: list[str]
    next: list[str] = Field(description="The list to use next.")
    window: str | None = Field(description="Start of the window that it is for.")
    expected_posts: EstimateAnswer | None
    at_least: bool = Field(description="Whether numbers of posts are lower bounds.")
    reasons: list[ReasonAnswer]
    frontier: list[FrontierAnswer]
    notes: list[str]
    model: str | None = Field(description="Id of its model, if one was trained.")
    decision: DecisionAnswer | None


class SelectionAnswer(BaseModel):
    """The list at one setting of the dial."""

    novelty: float
    keep: list[str]
    add: list[str]
    drop: list[str]
    expected_posts: EstimateAnswer
    retention: float = Field(description="Share of the current list's posts that it still brings.")
    new_ground: float
    reasons: list[ReasonAnswer]


class TopicShareAnswer(Answer):
    """A topic, with its share of the posts now and with the other list."""

    words: list[str]
    now: float
    then: float
    arriving: list[str] = Field(description="New words of the topic with the other list.")


class OutlookAnswer(Answer):
    """The posts that a list would bring in the next window, compared with the current list."""

    keywords: KeywordTexts
    expected_posts: EstimateAnswer
    retention: float
    new_ground: float
    gained: list[str]
    lost: list[str]
    top: list[str] = Field(description="The most frequent words in its posts.")
    topics: list[TopicShareAnswer]
    over: str | None = Field(description="The limit that it exceeds.")
    held: dict[str, str] = Field(description="Keywords that a proposal would not add, and why.")
    unknown: list[str] = Field(description="Keywords without a known post.")
    reasons: list[ReasonAnswer] = Field(description="Posts, new posts and relevance of each keyword.")


class DecisionForm(BaseModel):
    """A decision about a proposal."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict
    note: str = Field(default="", max_length=MOST_NOTE)
    keywords: list[Text] = Field(default=[], max_length=1000, description="With `edit`: the list to use instead.")


class RulesAnswer(Answer):
    """A list as rules of a platform, in order."""

    platform: Platform
    terms: list[str]
    add: list[str] = Field(description="Terms that the active list does not have.")
    remove: list[str]
    requests: list[dict[str, Any]]
    notes: list[str]


@router.get("/monitors/{name}/proposals")
def proposals(monitor: TheMonitor, limit: Annotated[int, Query(ge=1, le=200)] = 20) -> list[ProposalSummary]:
    """The newest proposals, newest first."""
    return [ProposalSummary(**_summary(saved)) for saved in monitor.records.proposals.newest(limit)]


@router.post("/monitors/{name}/proposals", status_code=202, responses=documented(409))
def propose(monitor: TheMonitor, identity: Identity) -> JobAnswer:
    """Starts to make a proposal from the closed windows. Returns its job, which shows the progress."""
    return answer_for(monitor, start(monitor, "propose", asked_by=identity))


@router.get("/monitors/{name}/proposals/{proposal}")
def show_proposal(monitor: TheMonitor, proposal: ProposalId) -> ProposalAnswer:
    """A proposal with its reasons, the frontier, and the decision about it."""
    return _full(the_proposal(monitor, proposal))


@router.get("/monitors/{name}/proposals/{proposal}/dial", responses=documented(409))
def dial(
    monitor: TheMonitor,
    proposal: ProposalId,
    novelty: Annotated[
        float, Query(ge=0, le=1, description="0: close relatives of the list. 1: rising and new words.")
    ] = 0.5,
    max_keywords: Limit = None,
    max_posts: Limit = None,
) -> SelectionAnswer:
    """The best list at a setting of the dial, without delay. Other limits may be given."""
    choices = weighable(monitor, the_proposal(monitor, proposal))
    budget = Budget(max_keywords, max_posts) if max_keywords or max_posts else None
    return _selection(reselect(choices, novelty, budget))


@router.get("/monitors/{name}/proposals/{proposal}/what-if", responses=documented(409))
def outlook(
    monitor: TheMonitor,
    proposal: ProposalId,
    keyword: Annotated[
        list[Text],
        Query(min_length=1, max_length=1000, description="A keyword of the list. Repeat it for each keyword."),
    ],
) -> OutlookAnswer:
    """The posts that any list would bring. A word that is no candidate is looked up in the posts."""
    found = what_if(weighable(monitor, the_proposal(monitor, proposal)), keyword)
    return OutlookAnswer(
        keywords=list(found.keywords.texts),
        retention=found.retention,
        new_ground=found.new_ground,
        gained=list(found.gained),
        lost=list(found.lost),
        top=list(found.top),
        unknown=list(found.unknown),
        over=found.over,
        expected_posts=EstimateAnswer.model_validate(found.expected_posts),
        topics=[TopicShareAnswer.model_validate(topic) for topic in found.topics],
        held=dict(found.held),
        reasons=[_reason(reason) for reason in found.reasons],
    )


@router.post("/monitors/{name}/proposals/{proposal}/decision", responses=documented(409))
def decision(monitor: TheMonitor, proposal: ProposalId, form: DecisionForm, identity: Identity) -> ProposalAnswer:
    """Approves, edits or rejects a proposal, once. The audit log keeps the name of the person."""
    saved = the_proposal(monitor, proposal)
    decide(monitor, saved, form.verdict, identity=identity, note=form.note, keywords=form.keywords)
    return _full(the_proposal(monitor, proposal))


@router.get("/monitors/{name}/proposals/{proposal}/rules/{platform}")
def proposal_rules(monitor: TheMonitor, proposal: ProposalId, platform: Platform) -> RulesAnswer:
    """The change from the active list to the proposed one, as rules for a platform."""
    return _rules(monitor, platform, the_proposal(monitor, proposal).id)


@router.get("/monitors/{name}/rules/{platform}")
def active_rules(monitor: TheMonitor, platform: Platform) -> RulesAnswer:
    """The active list as rules for a platform."""
    return _rules(monitor, platform, None)


def _rules(monitor: Monitor, platform: Platform, proposal: str | None) -> RulesAnswer:
    return RulesAnswer.model_validate(monitor_rules(monitor, platform, proposal))


def _summary(saved: SavedProposal) -> dict[str, Any]:
    proposal = saved.proposal
    return {
        "id": saved.id,
        "made": saved.made,
        "state": saved.state,
        "policy": proposal.policy,
        "add": list(proposal.add.texts),
        "drop": list(proposal.drop.texts),
        "flags": list(saved.flags),
    }


def _full(saved: SavedProposal) -> ProposalAnswer:
    proposal, decided = saved.proposal, saved.decision
    return ProposalAnswer(
        **_summary(saved),
        current=list(proposal.current.texts),
        keep=list(proposal.keep.texts),
        next=list(proposal.next_keywords.texts),
        window=proposal.window,
        expected_posts=_estimate(proposal.expected_posts),
        at_least=proposal.at_least,
        reasons=[_reason(reason) for reason in proposal.reasons],
        frontier=[FrontierAnswer.model_validate(point) for point in proposal.frontier],
        notes=list(proposal.notes),
        model=saved.model,
        decision=None if decided is None else DecisionAnswer.model_validate(decided),
    )


def _estimate(found: Estimate | None) -> EstimateAnswer | None:
    return None if found is None else EstimateAnswer.model_validate(found)


def _reason(reason: Reason) -> ReasonAnswer:
    return ReasonAnswer(
        keyword=reason.keyword.text,
        forms=list(reason.keyword.forms),
        action=reason.action,
        text=reason.text,
        volume=reason.volume,
        code=reason.code,
        relevance=reason.relevance,
        new_posts=reason.new_posts,
        expected_posts=_estimate(reason.expected_posts),
        gained=list(reason.gained),
        lost=list(reason.lost),
        extends=reason.extends,
        examples=[example.text for example in reason.examples],
    )


def _selection(found: ChosenList) -> SelectionAnswer:
    return SelectionAnswer(
        novelty=found.novelty,
        keep=list(found.keep.texts),
        add=list(found.add.texts),
        drop=list(found.drop.texts),
        expected_posts=EstimateAnswer.model_validate(found.expected_posts),
        retention=found.retention,
        new_ground=found.new_ground,
        reasons=[_reason(reason) for reason in found.reasons],
    )
