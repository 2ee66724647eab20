"""Frozen value types that every layer uses."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import index
from typing import Protocol, Self, SupportsIndex, overload

from klda.errors import SettingError
from klda.query import Query, has_signs, parse_query, split_list, written


@dataclass(frozen=True, slots=True)
class Post:
    """One message, whatever the platform; counts that a platform does not give are None.

    >>> from datetime import UTC
    >>> Post(id="1", time=datetime(2026, 1, 5, tzinfo=UTC), text="Hello").is_repost
    False
    """

    id: str
    time: datetime
    """UTC, always with a zone."""
    text: str
    author: str | None = None
    language: str | None = None
    repost_of: str | None = None
    """Id of the original post; empty if the source does not give it."""
    hashtags: tuple[str, ...] = ()
    reposts: int | None = None
    likes: int | None = None
    replies: int | None = None
    quotes: int | None = None
    followers: int | None = None
    following: int | None = None
    author_posts: int | None = None
    author_likes: int | None = None
    label: str | None = None
    """The label of the post in an archive; only evaluation reads it."""

    @property
    def is_repost(self) -> bool:
        """Whether the post only passes another one on."""
        return self.repost_of is not None


@dataclass(frozen=True, slots=True)
class Keyword:
    """A term as people see it, and the surface forms that are matched for it.

    A typed keyword matches only as typed; a candidate found in the data carries the forms of its stem. Each form is
    read as `klda.query` says: words, a phrase in quotes, AND, OR, NOT. A keyword that begins with a minus sign is an
    exclusion: its posts are left out, whatever else they carry. Each form counts as one term of a platform's budget.

    >>> Keyword("tariff").forms
    ('tariff',)
    >>> str(Keyword("veterans", ("veterans", "veteran")))
    'veterans'
    >>> Keyword("apple  NOT pie").text, Keyword("-pie").excludes
    ('apple -pie', True)
    """

    text: str
    forms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise SettingError(
                f"a keyword is a text, not {self.text!r}; give each by itself, as in KeywordSet.of('a', 'b')"
            )
        if not self.text.strip():
            raise SettingError("a keyword must not be empty")
        if isinstance(self.forms, str):
            raise SettingError(f"forms={self.forms!r} is one text; give a tuple, as in ({self.forms!r},)")
        if not self.forms:
            if has_signs(self.text):
                object.__setattr__(self, "text", str(parse_query(self.text)))
            object.__setattr__(self, "forms", (self.text,))

    def __str__(self) -> str:
        return self.text

    @property
    def excludes(self) -> bool:
        """Whether it is an exclusion: the list collects no post that has it."""
        return self.text.startswith("-") and parse_query(self.text).excludes

    @property
    def queries(self) -> tuple[Query, ...]:
        """The query of each form."""
        return tuple(map(parse_query, self.forms))

    @property
    def is_plain(self) -> bool:
        """Whether each form is only words: no quotes, no operators, nothing to leave out."""
        return not any(map(has_signs, self.forms))

    @property
    def in_words(self) -> str:
        """The keyword without quotes and operators: only the words that it asks a post for.

        >>> Keyword("apple AND (iphone OR ios) -pie").in_words
        'apple iphone ios'
        """
        return " ".join(parse_query(self.text).words) if has_signs(self.text) else self.text


def _alike(text: str) -> str:
    """A key that is equal for keywords that match the same posts, whatever their case, spaces and accents."""
    if has_signs(text):  # AND is an operator, "and" a word
        return text
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class KeywordSet(Sequence[Keyword]):
    """Keywords in a fixed order, each text once: the index of a keyword is its column in every array.

    >>> health = KeywordSet.of("health", "drug", "health")
    >>> health.texts
    ('health', 'drug')
    >>> "drug" in health, health.index("drug"), (health | KeywordSet.of("mask")).texts
    (True, 1, ('health', 'drug', 'mask'))
    """

    keywords: tuple[Keyword, ...] = ()
    _position: dict[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        first: dict[str, Keyword] = {}
        for keyword in self.keywords:
            first.setdefault(keyword.text, keyword)
        object.__setattr__(self, "keywords", tuple(first.values()))
        object.__setattr__(self, "_position", {text: i for i, text in enumerate(first)})

    @classmethod
    def of(cls, *keywords: str | Keyword) -> Self:
        """The set of these keywords; plain strings match as typed, and those that then match alike are one.

        >>> KeywordSet.of("Health", "HEALTH", "drug", "health").texts
        ('Health', 'drug')
        """
        first: dict[str, Keyword] = {}
        for keyword in (k if isinstance(k, Keyword) else Keyword(k) for k in keywords):
            as_typed = keyword.forms == (keyword.text,)
            first.setdefault(_alike(keyword.text) if as_typed else keyword.text, keyword)
        return cls(tuple(first.values()))

    @property
    def texts(self) -> tuple[str, ...]:
        """The keywords as people see them, in order."""
        return tuple(self._position)

    @property
    def n_terms(self) -> int:
        """How many terms of a platform's budget the set takes: one for each form; exclusions take none."""
        return sum(len(keyword.forms) for keyword in self.included)

    @property
    def included(self) -> KeywordSet:
        """The keywords that bring posts: all but the exclusions.

        >>> health = KeywordSet.of("health", "-insurance")
        >>> health.included.texts, health.exclusions.texts
        (('health',), ('-insurance',))
        """
        return KeywordSet(tuple(keyword for keyword in self.keywords if not keyword.excludes))

    @property
    def exclusions(self) -> KeywordSet:
        """The exclusions: no post of the list may carry one of them."""
        return KeywordSet(tuple(keyword for keyword in self.keywords if keyword.excludes))

    @property
    def left_out(self) -> KeywordSet:
        """The exclusions as keywords that match the excluded posts.

        >>> KeywordSet.of("health", "-insurance").left_out.texts
        ('insurance',)
        """
        queries = (query.condition for keyword in self.exclusions for query in keyword.queries)
        return KeywordSet.of(*map(written, queries))

    def __len__(self) -> int:
        return len(self.keywords)

    def __iter__(self) -> Iterator[Keyword]:
        return iter(self.keywords)

    def __contains__(self, keyword: object) -> bool:
        return str(keyword) in self._position

    @overload
    def __getitem__(self, index: int) -> Keyword: ...
    @overload
    def __getitem__(self, index: slice) -> KeywordSet: ...
    def __getitem__(self, index: int | slice) -> Keyword | KeywordSet:
        return KeywordSet(self.keywords[index]) if isinstance(index, slice) else self.keywords[index]

    def index(self, keyword: object, start: int = 0, stop: int | None = None) -> int:
        """The position of a keyword, given as text or as `Keyword`."""
        position = self._position.get(str(keyword))
        if position is None or not start <= position < (len(self) if stop is None else stop):
            raise ValueError(f"{str(keyword)!r} is not in the keyword set")
        return position

    def spell(self, keywords: Iterable[Keyword]) -> KeywordSet:
        """These keywords, each as this set writes it where it has it in other case.

        >>> KeywordSet.of("health", "drug").spell(KeywordSet.of("Health", "Mask")).texts
        ('health', 'Mask')
        """
        given = tuple(keywords)
        if all(keyword in self for keyword in given):
            return KeywordSet(given)
        known = {_alike(keyword.text): keyword for keyword in reversed(self.keywords)}
        return KeywordSet(tuple(k if k in self else known.get(_alike(k.text), k) for k in given))

    def __or__(self, other: Iterable[Keyword]) -> KeywordSet:
        return KeywordSet((*self.keywords, *other))

    def __sub__(self, other: Iterable[Keyword]) -> KeywordSet:
        gone = {keyword.text for keyword in other}
        return KeywordSet(tuple(k for k in self.keywords if k.text not in gone))

    def __and__(self, other: Iterable[Keyword]) -> KeywordSet:
        kept = {keyword.text for keyword in other}
        return KeywordSet(tuple(k for k in self.keywords if k.text in kept))


def as_keywords(keywords: KeywordSet | Iterable[str | Keyword]) -> KeywordSet:
    """The set of these keywords; a text is read as a list with commas.

    >>> as_keywords(["health", "drug"]).texts
    ('health', 'drug')
    >>> as_keywords('health, "computer virus", drug AND (price OR cost), -war').texts
    ('health', '"computer virus"', 'drug AND (price OR cost)', '-war')
    """
    if isinstance(keywords, str):
        return KeywordSet.of(*split_list(keywords))
    return keywords if isinstance(keywords, KeywordSet) else KeywordSet.of(*keywords)


def whole_number(value: object, name: str, least: int) -> int:
    """The number, if it is whole and at least `least`.

    >>> whole_number(3.0, "top", 1)
    Traceback (most recent call last):
    klda.errors.SettingError: top must be a whole number, got 3.0
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise SettingError(f"{name} must be a whole number, got {value!r}")
    if index(value) < least:
        raise SettingError(f"{name} must be at least {least}, got {value}")
    return index(value)


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A half-open stretch of time [start, end), in UTC."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """How long the window lasts."""
        return self.end - self.start

    def __str__(self) -> str:
        precise = self.length < timedelta(days=1)
        return self.start.strftime("%Y-%m-%d %H:%M" if precise else "%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval (90 % unless said otherwise)."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a keyword list, its required words and its forbidden ones."""

    max_keywords: int | None = None
    max_posts: float | None = None
    """Expected posts a window."""
    max_terms: int | None = None
    """Surface forms in all, as platforms count them."""
    required: KeywordSet = KeywordSet()
    forbidden: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("max_keywords", "max_terms"):
            if getattr(self, name) is not None:
                whole_number(getattr(self, name), name, 1)
        if self.max_posts is not None and not self.max_posts >= 1:
            raise SettingError(f"max_posts must be at least 1, got {self.max_posts}")
        if isinstance(self.forbidden, str):
            raise SettingError(f"forbidden={self.forbidden!r} is one text; give a set, as in {{{self.forbidden!r}}}")
        object.__setattr__(self, "required", as_keywords(self.required))
        object.__setattr__(self, "forbidden", frozenset(self.forbidden))
        both = self.forbidden & set(self.required.texts)
        if both:
            raise SettingError(f"{', '.join(sorted(both))}: both required and forbidden; leave out one of the two")


class Progress(Protocol):
    """A callback for progress; commands draw a bar from it, the studio sends events."""

    def __call__(self, stage: str, done: int, total: int | None = None, **facts: float) -> None:
        """Says how much of a stage is done, of a total if it is known; `facts` are further numbers to show."""


def silent(stage: str, done: int, total: int | None = None, **facts: float) -> None:
    """Reports nothing: the default for every `progress` parameter."""
