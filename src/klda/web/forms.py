"""What people and programs fill in to make a monitor, and what is wrong with it, field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from klda.errors import KldaError
from klda.monitor.settings import Approval, MonitorSettings
from klda.query import split_list
from klda.streams.connections import Resolve, resolved
from klda.text.matching import Matcher
from klda.text.windows import parse_length
from klda.types import KeywordSet
from klda.web.problems import WrongFields
from klda.web.safety.addresses import source_from_form
from klda.web.studio import NAME

MOST_KEYWORDS = 1000
MOST_LETTERS = 500
"""Characters of a keyword."""
_SEPARATORS = ",;\n\r"


def name_taken() -> WrongFields:
    """What is wrong with a form whose name another monitor has."""
    return WrongFields({"name": "a monitor of this name is there already"})


def typed_keywords(text: str) -> list[str]:
    """Keywords as a person types them, on one line or several.

    >>> typed_keywords('flu, "long covid"; apple AND (iphone OR ios)')
    ['flu', '"long covid"', 'apple AND (iphone OR ios)']
    """
    return split_list(text, _SEPARATORS)


def _split(value: object) -> object:
    return typed_keywords(value) if isinstance(value, str) else value


def _nothing(value: object) -> object:
    """An empty field says nothing."""
    return None if value == "" else value


def _length(text: str) -> str:
    try:
        parse_length(text)
    except KldaError as error:
        raise ValueError("give a number and a unit, as in 7d, 1d or 6h") from error
    return text


def _name(text: str) -> str:
    if not re.fullmatch(NAME, text):
        raise ValueError("use lower-case letters, digits, - and _, as in flu-2026")
    return text


def _matchable(keywords: list[str]) -> list[str]:
    try:
        found = KeywordSet.of(*keywords)
        Matcher(found)
    except KldaError as error:
        raise ValueError(str(error)) from error
    if not found.included:
        raise ValueError("exclusions alone bring no posts; name at least one keyword")
    return list(found.texts)


Name = Annotated[str, AfterValidator(_name), Field(max_length=63)]
Keywords = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MOST_LETTERS)]],
    BeforeValidator(_split),
    AfterValidator(_matchable),
    Field(min_length=1, max_length=MOST_KEYWORDS),
]
Length = Annotated[str, AfterValidator(_length), Field(max_length=10)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Limit = Annotated[Annotated[int, Field(ge=1, le=1_000_000_000)] | None, BeforeValidator(_nothing)]


class NewMonitor(BaseModel):
    """What every monitor is asked for, whatever it is made of."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: Name = Field(description="Its name, as in `flu-2026`.")
    subject: str = Field(min_length=1, max_length=200, description="The subject in words.")
    keywords: Keywords = Field(description="The first list.")
    language: Language = Field(default="en", description="Of the posts, by its code; stemmer and stop words follow it.")
    window: Length = Field(default="7d", description="As in 7d, 6h.")
    max_keywords: Limit = Field(default=None, description="Most keywords of a list.")
    max_posts: Limit = Field(default=None, description="Most posts that a list may bring in a window.")

    @field_validator("max_keywords")
    @classmethod
    def _holds_the_first_list(cls, most: int | None, info: ValidationInfo) -> int | None:
        n = len(KeywordSet.of(*info.data.get("keywords", ())).included)
        if most is not None and most < n:
            raise ValueError(f"the first list has {n} keywords already")
        return most

    def values(self) -> dict[str, Any]:
        """These as settings of a monitor."""
        limits = {"max_keywords": self.max_keywords, "max_posts": self.max_posts}
        budget = {name: value for name, value in limits.items() if value is not None}
        own = self.model_dump(include={"subject", "keywords", "language", "window"})
        return own | {"budget": budget}


class MonitorForm(NewMonitor):
    """A monitor to be made."""

    kind: Literal["jetstream", "mastodon", "x", "kafka"] = Field(default="jetstream", description="Kind of source.")
    address: str = Field(default="", max_length=500, description="Address of the source; its public one if empty.")
    topic: str = Field(default="", max_length=249, description="Topic, of Kafka.")
    approval: Approval = Field(default="manual", description="`auto` approves where nothing is flagged.")


def parsed(values: Mapping[str, Any]) -> MonitorForm:
    """The form with these values; `WrongFields` where they cannot be used."""
    try:
        return MonitorForm.model_validate(dict(values))
    except ValidationError as error:
        raise WrongFields(in_words(error.errors())) from error


def in_words(errors: list[Any]) -> dict[str, str]:
    """What is wrong with each field, as a person would say it."""
    found: dict[str, str] = {}
    for error in errors:
        name = str(error["loc"][0]) if error["loc"] else "form"
        words = _WORDS.get(error["type"], "").format_map(error.get("ctx", {}))
        found.setdefault(name, words or str(error["msg"]).removeprefix("Value error, "))
    return found


def settings_of(form: MonitorForm, *, private: bool, resolve: Resolve = resolved) -> MonitorSettings:
    """The settings of the monitor that a form describes; `WrongFields` where its source may not be used."""
    try:
        source = source_from_form(form.kind, form.address, form.topic, private=private, resolve=resolve)
    except KldaError as error:
        raise WrongFields({"topic" if "topic" in str(error) else "address": str(error)}) from error
    try:
        return MonitorSettings.of(form.values() | {"source": source, "approval": form.approval}, "the form")
    except KldaError as error:
        raise WrongFields({"form": str(error)}) from error


_WORDS = {
    "missing": "this is needed",
    "string_too_short": "this is needed",
    "string_too_long": "at most {max_length} characters, also of each keyword",
    "too_short": "name at least one keyword",
    "too_long": f"at most {MOST_KEYWORDS} keywords",
    "int_parsing": "give a whole number",
    "string_pattern_mismatch": "give a code of two or three small letters, as in en or de",
    "greater_than_equal": "give a number of at least {ge}",
    "less_than_equal": "give a number of at most {le:,}",
}
