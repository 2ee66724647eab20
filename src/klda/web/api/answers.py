"""What resources answer with; each model reads its values from the object that holds them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from klda.store.sql.job_records import JobState
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
    """A number with the interval it may lie in."""

    mean: float
    low: float
    high: float


class WindowAnswer(Answer):
    """A window and how much it brought."""

    start: datetime
    posts: int
    closed: bool


class ModelAnswer(BaseModel):
    """A model that a proposal was made with."""

    id: str
    window: datetime = Field(description="Start of the last window that it has seen.")
    made: datetime
    training: str | None = Field(default=None, description="Whether it learnt from scratch, or went on (`continue`).")
    words: int | None = Field(default=None, description="Words that it knows.")
    candidates: int | None = None
    bound: float | None = Field(default=None, description="Its bound when training ended.")


class MonitorAnswer(Answer):
    """How a monitor stands."""

    name: str
    subject: str
    source: str = Field(description="Kind of source.")
    policy: str = Field(description="Who proposes.")
    approval: str
    zone: str = Field(description="Time zone in which its windows of days begin.")
    keywords: list[str] = Field(description="The active list.")
    running: bool = Field(description="Whether a process collects for it now.")
    failure: str | None = Field(description="Why collecting ended, where it failed and was not begun again.")
    posts: int = Field(description="Posts collected in all windows.")
    sample: int = Field(description="Posts of the unfiltered sample.")
    windows: list[WindowAnswer] = Field(description="The latest windows.")
    waiting: str | None = Field(description="The proposal that waits for a decision.")
    flags: list[str] = Field(description="Why that proposal must not be approved automatically.")
    gaps: int = Field(description="Stretches of time that the source did not deliver.")
    refused: str | None = Field(description="Why the source does not follow the active list, but the one before.")
    models: list[ModelAnswer] = Field(description="The models that are kept, newest first.")


class UnreadableAnswer(Answer):
    """A monitor that cannot be opened or read now."""

    name: str
    unreadable: str = Field(description="Why, and what to do.")


class FlowAnswer(Answer):
    """Posts of a keyword in one window, day or hour."""

    start: datetime
    keyword: str
    posts: int = Field(description="Posts that carry it.")
    share: float = Field(description="Its part of all posts; parts of all keywords add up to the number of posts.")


class YieldAnswer(Answer):
    """What an active keyword brings."""

    keyword: str
    forms: list[str]
    since: datetime
    reason: str
    posts: int = Field(description="In the newest window, so far.")
    alone: int = Field(description="Those that no other keyword would have brought.")
    overlap: float | None = Field(description="Share of its posts that another keyword brings, too.")
    before: int = Field(description="In the window before.")
    expected: EstimateAnswer | None = Field(description="What was expected in the newest window.")


class ExampleAnswer(Answer):
    """A post; its text is a stranger's."""

    id: str
    text: str
    time: datetime


class TopicAnswer(Answer):
    """A topic, with its share of each window."""

    words: list[str]
    share: float = Field(description="Of the last window.")
    shares: list[float]
    examples: list[ExampleAnswer]


class TopicsAnswer(Answer):
    """The topics of a window and of those before it."""

    windows: list[datetime] = Field(description="Starts, in order.")
    topics: list[TopicAnswer] = Field(description="The largest of the last window first.")
    n_posts: int = Field(description="Posts that they were learnt from.")
    made: datetime


class SpanAnswer(Answer):
    """A stretch of time in which a keyword was active."""

    keyword: KeywordText
    started: datetime
    reason: str
    decided_by: str
    proposal: str | None
    ended: datetime | None
    end_reason: str | None
    ended_by: str | None


class OutcomeAnswer(Answer):
    """What was expected of a keyword in a window, and what came."""

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
    """A stretch of time in which a source delivered nothing."""

    source: str
    start: datetime
    end: datetime
    reason: str


class JobAnswer(Answer):
    """A piece of work as it stands."""

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
    cancelled: bool = Field(description="Whether somebody asked for it to stop.")


Period = Literal["window", "day", "hour"]
