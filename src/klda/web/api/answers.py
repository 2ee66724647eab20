"""The models of answers. Each reads its values from the attributes of an object."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from klda.store.sql.journal import JobState
from klda.types import Keyword, KeywordSet


def _text(value: object) -> object:
    return value.text if isinstance(value, Keyword) else value


def _texts(value: object) -> object:
    return value.texts if isinstance(value, KeywordSet) else value


KeywordText = Annotated[str, BeforeValidator(_text)]
KeywordTexts = Annotated[list[str], BeforeValidator(_texts)]


class Answer(BaseModel):
    """A model that takes its values from attributes."""

    model_config = ConfigDict(from_attributes=True)


class EstimateAnswer(Answer):
    """A number with its interval."""

    mean: float
    low: float
    high: float


class WindowAnswer(Answer):
    """A window and its number of posts."""

    start: datetime
    posts: int
    closed: bool


class ModelAnswer(BaseModel):
    """A model behind a proposal."""

    id: str
    window: datetime = Field(description="Start of the last window that it learned from.")
    made: datetime
    training: str | None = Field(default=None, description="`scratch`, or `continue` if it continued an earlier model.")
    words: int | None = Field(default=None, description="Number of words that it knows.")
    candidates: int | None = None
    bound: float | None = Field(default=None, description="Its bound at the end of training.")


class MonitorAnswer(Answer):
    """The state of a monitor."""

    name: str
    subject: str
    source: str = Field(description="Kind of source.")
    policy: str = Field(description="Who proposes.")
    approval: str
    zone: str = Field(description="Time zone in which its windows of days begin.")
    keywords: list[str] = Field(description="The active list.")
    running: bool = Field(description="Whether a process collects for it now.")
    failure: str | None = Field(description="Why collecting failed, if it has not been started again.")
    posts: int = Field(description="Posts collected in all windows.")
    sample: int = Field(description="Posts of the unfiltered sample.")
    windows: list[WindowAnswer] = Field(description="The latest windows.")
    waiting: str | None = Field(description="The proposal that waits for a decision.")
    flags: list[str] = Field(description="Why that proposal needs a person.")
    gaps: int = Field(description="Number of times in which the source delivered nothing.")
    refused: str | None = Field(description="Why the source uses the list before, not the active one.")
    models: list[ModelAnswer] = Field(description="The saved models, newest first.")


class UnreadableAnswer(Answer):
    """A monitor that cannot be opened or read now."""

    name: str
    unreadable: str = Field(description="The reason, and what to do.")


class FlowAnswer(Answer):
    """Posts of a keyword in one window, day or hour."""

    start: datetime
    keyword: str
    posts: int = Field(description="Posts with the keyword.")
    share: float = Field(description="Its part of all posts. The parts of all keywords add up to the number of posts.")


class YieldAnswer(Answer):
    """The posts that an active keyword brings."""

    keyword: str
    forms: list[str]
    since: datetime
    reason: str
    posts: int = Field(description="In the newest window, so far.")
    alone: int = Field(description="Posts that no other keyword would have brought.")
    overlap: float | None = Field(description="Share of its posts that another keyword brings too.")
    before: int = Field(description="In the window before.")
    expected: EstimateAnswer | None = Field(description="Expected posts in the newest window.")


class ExampleAnswer(Answer):
    """A post. Its text is from a stranger."""

    id: str
    text: str
    time: datetime


class TopicAnswer(Answer):
    """A topic, with its share of each window."""

    words: list[str]
    share: float = Field(description="Share of the last window.")
    shares: list[float]
    examples: list[ExampleAnswer]


class TopicsAnswer(Answer):
    """The topics of a window and of those before it."""

    windows: list[datetime] = Field(description="Starts of the windows, in order.")
    topics: list[TopicAnswer] = Field(description="Topics, the largest of the last window first.")
    n_posts: int = Field(description="Number of posts that they were learned from.")
    made: datetime


class SpanAnswer(Answer):
    """A time in which a keyword was active."""

    keyword: KeywordText
    started: datetime
    reason: str
    decided_by: str
    proposal: str | None
    ended: datetime | None
    end_reason: str | None
    ended_by: str | None


class OutcomeAnswer(Answer):
    """The expected and the actual posts of a keyword in a window."""

    window_start: datetime
    expected: EstimateAnswer
    realised: int | None


class StoryAnswer(Answer):
    """The history of a keyword."""

    keyword: str
    forms: list[str]
    is_active: bool
    spans: list[SpanAnswer]
    outcomes: list[OutcomeAnswer]


class AuditAnswer(Answer):
    """Who did what, and when."""

    at: datetime
    who: str
    action: str
    subject: str
    detail: dict[str, Any]


class GapAnswer(Answer):
    """A time in which a source delivered nothing."""

    source: str
    start: datetime
    end: datetime
    reason: str


class JobAnswer(Answer):
    """A job and its progress."""

    monitor: str
    id: str
    kind: str = Field(examples=["collect", "propose", "backtest", "topics"])
    state: JobState
    created: datetime
    changed: datetime
    stage: str
    done: int
    total: int | None
    error: str | None
    result: dict[str, Any]
    cancelled: bool = Field(description="Whether somebody cancelled it.")


Period = Literal["window", "day", "hour"]
