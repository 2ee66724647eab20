"""Forms for a new monitor, the sources that a form may name, and what is wrong with each field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

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

from klda.errors import KldaError, SettingError
from klda.monitor.monitor_settings import Approval, MonitorSettings
from klda.query import split_list
from klda.streams.connections import Resolve, outside, resolved
from klda.text.matching import Matcher
from klda.text.windows import parse_length
from klda.types import KeywordSet
from klda.web.problems import WrongFields
from klda.web.studio import NAME

MOST_KEYWORDS = 1000
MOST_LETTERS = 500
"""Characters of a keyword."""
SCHEMES = {"jetstream": ("wss", "ws"), "mastodon": ("https",)}
KINDS = ("jetstream", "mastodon", "x", "kafka")
"""Sources that a form may name. Files come by upload, so that no path from a request reaches the file system."""
_SEPARATORS = ",;\n\r"


def typed_keywords(text: str) -> list[str]:
    """Keywords as a person types them, on one line or several.

    >>> typed_keywords('flu, "long covid"; apple AND (iphone OR ios)')
    ['flu', '"long covid"', 'apple AND (iphone OR ios)']
    """
    return split_list(text, _SEPARATORS)


def _split(value: object) -> object:
    return typed_keywords(value) if isinstance(value, str) else value


def _nothing(value: object) -> object:
    """None for an empty field."""
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
    """Fields that every new monitor needs, from a stream or from a file."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: Name = Field(description="Name of the monitor, such as `flu-2026`.")
    subject: str = Field(min_length=1, max_length=200, description="The subject in words.")
    keywords: Keywords = Field(description="The first list.")
    language: Language = Field(
        default="en", description="Language code of the posts. It sets the stemmer and the stop words."
    )
    window: Length = Field(default="7d", description="Length of a window, such as 7d or 6h.")
    max_keywords: Limit = Field(default=None, description="Largest number of keywords in a list.")
    max_posts: Limit = Field(default=None, description="Largest number of posts that a list may bring in a window.")

    @field_validator("max_keywords")
    @classmethod
    def _holds_the_first_list(cls, most: int | None, info: ValidationInfo) -> int | None:
        n = len(KeywordSet.of(*info.data.get("keywords", ())).included)
        if most is not None and most < n:
            raise ValueError(f"the first list already has {n} keywords")
        return most

    def values(self) -> dict[str, Any]:
        """The fields as settings of a monitor."""
        limits = {"max_keywords": self.max_keywords, "max_posts": self.max_posts}
        budget = {name: value for name, value in limits.items() if value is not None}
        own = self.model_dump(include={"subject", "keywords", "language", "window"})
        return own | {"budget": budget}


class MonitorForm(NewMonitor):
    """The form for a new monitor on a stream."""

    kind: Literal["jetstream", "mastodon", "x", "kafka"] = Field(default="jetstream", description="Kind of source.")
    address: str = Field(default="", max_length=500, description="Address of the source. If empty: its public one.")
    topic: str = Field(default="", max_length=249, description="Kafka topic.")
    approval: Approval = Field(default="manual", description="`auto` makes all changes without a flag.")


def parsed(values: Mapping[str, Any]) -> MonitorForm:
    """The form with these values. `WrongFields` if they cannot be used."""
    try:
        return MonitorForm.model_validate(dict(values))
    except ValidationError as error:
        raise WrongFields(in_words(error.errors())) from error


def name_taken() -> WrongFields:
    """The error of a form whose name another monitor has."""
    return WrongFields({"name": "a monitor with this name exists already"})


def in_words(errors: list[Any]) -> dict[str, str]:
    """A message for each wrong field, in plain words."""
    found: dict[str, str] = {}
    for error in errors:
        name = str(error["loc"][0]) if error["loc"] else "form"
        words = _WORDS.get(error["type"], "").format_map(error.get("ctx", {}))
        found.setdefault(name, words or str(error["msg"]).removeprefix("Value error, "))
    return found


def settings_of(form: MonitorForm, *, private: bool, resolve: Resolve = resolved) -> MonitorSettings:
    """The settings in a form. `WrongFields` if its source may not be used."""
    try:
        source = source_from_form(form.kind, form.address, form.topic, private=private, resolve=resolve)
    except KldaError as error:
        raise WrongFields({"topic" if "topic" in str(error) else "address": str(error)}) from error
    try:
        return MonitorSettings.of(form.values() | {"source": source, "approval": form.approval}, "the form")
    except KldaError as error:
        raise WrongFields({"form": str(error)}) from error


def source_from_form(
    kind: str, address: str, topic: str = "", *, private: bool = False, resolve: Resolve = resolved
) -> dict[str, Any]:
    """The source in a form, as a table of settings. SettingError if it may not be used.

    private: whether addresses in the private network are allowed. If not, the source checks again at each connection,
    because a name may lead elsewhere by then. The studio must not connect to machines that only it can reach
    (server-side request forgery). It must not send a secret to a stranger either.

    >>> source_from_form("jetstream", "")
    {'kind': 'jetstream'}
    >>> source_from_form("mastodon", "https://localhost", resolve=lambda host, port: ["127.0.0.1"])
    Traceback (most recent call last):
    klda.errors.SettingError: localhost leads into the own network (127.0.0.1); --private-sources allows this
    """
    address, topic = address.strip(), topic.strip()
    if kind not in KINDS:
        raise SettingError(f"source {kind!r} is not known; choose one of {', '.join(KINDS)}")
    if kind == "kafka":
        return _kafka(address, topic, private, resolve)
    if kind == "x":
        if address:
            raise SettingError("X needs no address; leave it empty")
        return {"kind": "x"}
    if not address:
        return {"kind": kind}
    parts = _parts(address, SCHEMES[kind])
    _check(parts.hostname or "", parts.port or 443, private, resolve)
    table = {"kind": kind, "server": address.rstrip("/"), "only_outside": not private}
    if kind == "mastodon":
        table["token"] = token_variable(parts.hostname or "")
    return table


def token_variable(host: str) -> str:
    """The environment variable with the token of a Mastodon server, so that a token goes to its own server only.

    Different names have different variables: a dash becomes two underscores, a dot one. Otherwise a stranger could
    register a name with a dash instead of a dot.

    >>> token_variable("fosstodon.org"), token_variable("my-server.org")
    ('MASTODON_TOKEN_FOSSTODON_ORG', 'MASTODON_TOKEN_MY__SERVER_ORG')
    """
    return "MASTODON_TOKEN_" + host.upper().replace("-", "__").replace(".", "_")


def _parts(address: str, schemes: tuple[str, ...]) -> SplitResult:
    try:
        parts = urlsplit(address)
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise SettingError(f"{address!r} is not an address; give one such as {schemes[0]}://example.org") from error
    if parts.scheme not in schemes or not host or port == 0:
        raise SettingError(f"give an address that begins with {' or '.join(f'{s}://' for s in schemes)}")
    if not re.fullmatch(r"[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+", host):  # libraries read other characters differently
        raise SettingError(f"{host!r}: give the name of a server in plain letters, as in xn--bcher-kva.example")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingError("give the address of the server only, without user name, password or query")
    return parts


def _kafka(address: str, topic: str, private: bool, resolve: Resolve) -> dict[str, Any]:
    if not topic:
        raise SettingError("Kafka needs a topic")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", topic):
        raise SettingError("a Kafka topic may have letters, digits, dots, dashes and underscores")
    servers = [server.strip() for server in address.split(",") if server.strip()]
    if not servers:
        raise SettingError("Kafka needs the address of a server, such as kafka.example.org:9092")
    for server in servers:
        host, colon, port = server.rpartition(":")
        if not colon or not port.isdecimal() or not re.fullmatch(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]", host):
            raise SettingError(f"{server!r}: give host:port, as in kafka.example.org:9092")
        _check(host.strip("[]"), int(port), private, resolve)
    return {"kind": "kafka", "servers": ",".join(servers), "topic": topic, "only_outside": not private}


def _check(host: str, port: int, private: bool, resolve: Resolve) -> None:
    if private:
        return
    try:
        outside(host, port, resolve)
    except (OSError, UnicodeError) as error:
        raise SettingError(f"{host}: there is no such host; check the name") from error


_WORDS = {
    "missing": "this is needed",
    "string_too_short": "this is needed",
    "string_too_long": "at most {max_length} characters, in each keyword too",
    "too_short": "name at least one keyword",
    "too_long": f"at most {MOST_KEYWORDS} keywords",
    "int_parsing": "give a whole number",
    "string_pattern_mismatch": "give a code of two or three small letters, as in en or de",
    "greater_than_equal": "give a number of at least {ge}",
    "less_than_equal": "give a number of at most {le:,}",
}
