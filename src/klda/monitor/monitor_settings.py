"""The settings of a monitor, read from its `klda.toml`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from klda.advice.constants import FEWEST_POSTS
from klda.baselines.places import SIZE, USUAL_SOURCES, Place
from klda.errors import KldaError, SettingError
from klda.policies.registry import check_name
from klda.policies.registry import policy as policy_named
from klda.streams import SOURCES
from klda.text.text_settings import TextSettings
from klda.text.windows import Windowing, parse_length
from klda.types import Budget, KeywordSet

Approval = Literal["manual", "auto"]
Share = Annotated[float, Field(ge=0, le=1)]

LASTING = ("window", "zone", "sample", "pseudonymise")
"""Settings that cannot change later, because stored posts depend on them."""
EVENT_TIME = ("replay",)
"""Kinds of sources that replay the past. Their windows end by the times of the posts, not by the clock."""
_PATHS = {"replay": "posts", "folder": "path", "jetstream": "dictionary"}
_ENVIRONMENT = "env:"
_SECRET = ("secret", "token", "password", "access_key", "account_key", "api_key", "sas_key", "credential")


def _described(source: object) -> object:
    """`kind:address` as a table. Anything else is returned unchanged."""
    if not isinstance(source, str):
        return source
    kind, _, address = source.partition(":")
    return {"kind": kind, "address": address} if address else {"kind": kind}


def source_with(source: str | Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """The table of a source, given as `kind:address` or as a table, with more options.

    >>> source_with("folder:inbox", date_format="%d/%m/%Y")
    {'kind': 'folder', 'address': 'inbox', 'date_format': '%d/%m/%Y'}
    """
    table = _described(source)
    assert isinstance(table, Mapping)
    return {**table, **options}


def _known_source(source: dict[str, Any]) -> dict[str, Any]:
    if source.get("kind") not in SOURCES:
        raise ValueError(f"kind {source.get('kind')!r} is not known; choose one of {', '.join(SOURCES)}")
    if isinstance(source.get("options"), dict):
        _without_secrets({name: str(value) for name, value in source["options"].items()})
    return source


def _without_secrets(options: dict[str, str]) -> dict[str, str]:
    for name, value in options.items():
        if any(word in name.lower() for word in _SECRET) and not value.startswith(_ENVIRONMENT):
            variable = name.upper().replace(".", "_")
            raise ValueError(f'{name} must not be in a file; write it as in "{name}" = "env:{variable}"')
    return options


def _length(text: str) -> str:
    try:
        parse_length(text)
    except SettingError as error:
        raise ValueError(str(error)) from error
    return text


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CandidateSettings(_Table):
    """Where candidates are looked for, and how many."""

    sources: tuple[Place, ...] = (*USUAL_SOURCES, "rising", "sample")
    size: int = Field(default=SIZE, ge=1)


class BudgetSettings(_Table):
    """Limits of a keyword list."""

    max_keywords: int | None = Field(default=None, ge=1)
    max_posts: int | None = Field(default=None, ge=1)
    max_terms: int | None = Field(default=None, ge=1)
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    def budget(self) -> Budget:
        """The budget with these limits."""
        return Budget(
            self.max_keywords,
            self.max_posts,
            self.max_terms,
            KeywordSet.of(*self.required),
            frozenset(self.forbidden),
        )


class StorageSettings(_Table):
    """Where posts and records are stored, if not in the monitor's folder.

    `env:NAME` takes a value from the environment.
    """

    posts: str | None = None
    """Address of a table on object storage, such as `s3://bucket/monitor`."""
    options: Annotated[dict[str, str], AfterValidator(_without_secrets)] = Field(default={}, repr=False)
    """Options for Delta Lake."""
    database: str | None = Field(default=None, repr=False)
    """Address of a PostgreSQL database."""


class MonitorSettings(_Table):
    """What a monitor watches, and how.

    >>> MonitorSettings.parse('subject = "health"\\nkeywords = ["health"]\\nsource = "jetstream"').window
    '7d'
    >>> MonitorSettings.parse('subject = "health"\\nkeywords = []\\nsource = "jetstream"')
    Traceback (most recent call last):
    klda.errors.SettingError: klda.toml: keywords: Tuple should have at least 1 item after validation, not 0 (given: [])
    """

    subject: str = Field(min_length=1)
    """The subject in words."""
    keywords: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    """The first list. Later lists are compared with it."""
    source: Annotated[dict[str, Any], BeforeValidator(_described), AfterValidator(_known_source)]
    """`kind`, and the options of that source."""
    sample: Share = 0.01
    """Share of all posts that is stored unfiltered, if the source delivers all posts."""
    adjacent: bool = False
    """Whether the words of a phrase must stand side by side."""
    window: Annotated[str, AfterValidator(_length)] = "7d"
    zone: str = "UTC"
    """Time zone in which windows of days begin at midnight."""
    history: int = Field(default=12, ge=2)
    """Number of windows that a proposal learns from."""
    language: str = "en"
    min_count: int = Field(default=FEWEST_POSTS, ge=1)
    """Rarer words share one placeholder."""
    policy: str = "klda"
    training: Literal["scratch", "continue"] = "scratch"
    """Whether the model of the policy `klda` learns from the whole history, or continues with new posts."""
    keep_models: int = Field(default=4, ge=1)
    """Number of models that are kept."""
    novelty: Share = 0.5
    seed: int = 0
    approval: Approval = "manual"
    max_distance: Share = 0.5
    """A list is flagged if its words are further than this from those of the first keywords."""
    retention: Annotated[str, AfterValidator(_length)] | None = None
    """`klda monitor vacuum` deletes windows that ended this long ago. None: they are kept."""
    pseudonymise: bool = False
    candidates: CandidateSettings = CandidateSettings()
    budget: BudgetSettings = BudgetSettings()
    policy_settings: dict[str, Any] = {}
    """Further settings of the policy."""
    storage: StorageSettings = StorageSettings()

    @classmethod
    def of(cls, values: Mapping[str, Any], name: str = "klda.toml") -> MonitorSettings:
        """The settings in plain data. Errors name `name`."""
        try:
            settings = cls.model_validate(dict(values))
        except ValidationError as error:
            raise SettingError(f"{name}: {_first_problem(error)}") from error
        try:
            settings.windowing(), settings.text(), settings.budget.budget()
            if not settings.first_keywords().included:
                raise SettingError("keywords: exclusions alone bring no posts; name at least one keyword")
            check_name(settings.policy)
            if settings.policy_settings:  # only if needed: a policy imports libraries that a collector does not need
                policy_named(settings.policy, **settings.policy_settings)
        except KldaError as error:
            raise SettingError(f"{name}: {error}") from error
        return settings

    @classmethod
    def parse(cls, text: str, name: str = "klda.toml") -> MonitorSettings:
        """The settings in the text of a `klda.toml`."""
        try:
            return cls.of(tomllib.loads(text), name)
        except tomllib.TOMLDecodeError as error:
            raise SettingError(f"{name}: not TOML ({error}); correct that line") from error

    @classmethod
    def load(cls, path: Path) -> MonitorSettings:
        """The settings in a file."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"{path}: cannot be read ({error}); give a TOML file in UTF-8") from error

    def to_toml(self) -> str:
        """The settings as the text of a `klda.toml`, without defaults."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_defaults=True, exclude_none=True))

    def first_keywords(self) -> KeywordSet:
        """The first list."""
        return KeywordSet.of(*self.keywords)

    def windowing(self) -> Windowing:
        """How time is divided into windows."""
        return Windowing(self.window, self.zone)

    def lasting(self) -> dict[str, Any]:
        """The settings that cannot change once the monitor is made."""
        return {name: getattr(self, name) for name in LASTING}

    def text(self) -> TextSettings:
        """How text is turned into words."""
        return TextSettings(language=self.language, min_count=self.min_count)

    @property
    def by_event_time(self) -> bool:
        """Whether windows end by the times of the posts, not by the clock."""
        return self.source["kind"] in EVENT_TIME

    def source_table(self, owner: str = "") -> dict[str, Any]:
        """The source as `source_of` takes it. Rules on X match phrases as we do, and carry the name of their owner."""
        return {"adjacent": self.adjacent, "owner": owner, **self.source} if self.source["kind"] == "x" else self.source

    def with_absolute_paths(self) -> MonitorSettings:
        """The same settings with absolute paths, so that a command can run in any folder."""
        name = _PATHS.get(self.source["kind"])
        found = {key: value for key, value in self.source.items() if value and key in (name, "address")}
        if name is None or (self.source["kind"] == "jetstream" and "address" in found):
            return self
        absolute = {
            key: [str(Path(p).absolute()) for p in value] if isinstance(value, list) else str(Path(value).absolute())
            for key, value in found.items()
        }
        return self.model_copy(update={"source": self.source | absolute})


def from_environment(value: str) -> str:
    """The value itself, or for `env:NAME` the value of that environment variable, so that no secret is in a file."""
    if not value.startswith(_ENVIRONMENT):
        return value
    name = value.removeprefix(_ENVIRONMENT)
    if name not in os.environ:
        raise SettingError(f"the environment has no variable {name}, which klda.toml refers to; set it")
    return os.environ[name]


def resolved(source: Mapping[str, Any]) -> dict[str, Any]:
    """A source's table, with `options` read from the environment."""
    if not isinstance(source.get("options"), dict):
        return dict(source)
    options = {n: from_environment(v) if isinstance(v, str) else v for n, v in source["options"].items()}
    return dict(source) | {"options": options}


def _first_problem(error: ValidationError) -> str:
    """The first problem: the field, the reason, and the given value.

    An unknown name is reported before a missing one, because it is often the missing one, misspelt.
    """
    found = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    field = ".".join(str(part) for part in found["loc"]) or "the file"
    message = str(found["msg"]).removeprefix("Value error, ")
    if found["type"] == "extra_forbidden":
        known = f"; choose one of {', '.join(MonitorSettings.model_fields)}" if len(found["loc"]) == 1 else ""
        return f"{field}: there is no such setting{known}"
    secret = field.startswith("storage") or (isinstance(found["input"], dict) and "options" in found["input"])
    given = "" if secret or found["type"] == "missing" else f" (given: {found['input']!r})"
    return f"{field}: {message}{given}"
