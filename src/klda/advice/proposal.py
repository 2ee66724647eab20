"""A proposal: which keywords to keep, add and drop, and why. Its JSON is what rules, the store and pages read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from klda.advice.explanation import Action, Example, FrontierPoint, Reason
from klda.advice.reasons import SENTENCES, sentences
from klda.cells import frame_of, html_paragraph, html_table
from klda.errors import DataError, FormatError, InputError
from klda.safe_text import visible
from klda.types import Estimate, Keyword, KeywordSet

if TYPE_CHECKING:
    from klda.advice.choices import Choices, Outlook

SCHEMA_VERSION = 1
ORDER: tuple[Action, ...] = ("add", "drop", "keep", "hold")
"""How tables order what is done with keywords."""
COLUMNS = ("action", "keyword", "posts", "new", "why")


@dataclass(frozen=True)
class Known:
    """What the advice was made from."""

    posts: int
    with_keyword: int
    """Posts that carry a current keyword."""
    windows: int
    start: str
    """Start of the first window, ISO 8601."""
    end: str
    """End of the last window."""
    often: str = "a window"
    """How long a window is: *a week*."""

    def __str__(self) -> str:
        plural = "" if self.windows == 1 else "s"
        return (
            f"{self.posts:,} posts, {self.start[:10]} to {self.end[:10]}, {self.windows} window{plural}; "
            f"{self.with_keyword:,} posts carry a keyword"
        )


@dataclass(frozen=True)
class Proposal:
    """What a policy advises for the next window.

    >>> advice = Proposal(policy="static", current=KeywordSet.of("health"), keep=KeywordSet.of("health"))
    >>> advice.next_keywords.texts
    ('health',)
    >>> Proposal.from_json(advice.to_json()) == advice
    True
    """

    policy: str
    current: KeywordSet
    ranked: KeywordSet = KeywordSet()
    """Candidates, the best first."""
    per_keyword: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each current keyword the candidates that extend it, in order."""
    together: bool = False
    """Whether these are the first few of `ranked`, chosen for all keywords at once, and not each keyword's own best."""
    keep: KeywordSet = KeywordSet()
    add: KeywordSet = KeywordSet()
    drop: KeywordSet = KeywordSet()
    reasons: tuple[Reason, ...] = ()
    expected_posts: Estimate | None = None
    """Of the whole next list, a window."""
    posts_now: Estimate | None = None
    """Of the current list, a window."""
    known: Known | None = None
    at_least: bool = False
    """Whether numbers of posts are lower bounds, because too few posts without the list are known."""
    distance_from_subject: float | None = None
    frontier: tuple[FrontierPoint, ...] = ()
    notes: tuple[str, ...] = ()
    """Warnings for the reader: missing data, or a fallback."""
    window: str | None = None
    """Start of the window that the advice is for, ISO 8601."""
    seed: int | None = None
    choices: Choices | None = field(default=None, compare=False, repr=False)
    """The candidates and their scores; not part of the JSON."""

    def __repr__(self) -> str:
        """The advice in one line; reasons, ranks and examples are attributes."""
        steps = (("keep", self.keep), ("add", self.add), ("drop", self.drop))
        parts = [f"{name} {', '.join(words.texts)}" for name, words in steps if words]
        about = "at least" if self.at_least else "about"
        posts = "" if self.expected_posts is None else f"; {about} {self.expected_posts.mean:,.0f} posts"
        return f"<Proposal of {self.policy}: {visible('; '.join(parts)) or 'nothing'}{posts}>"

    def _repr_html_(self) -> str:
        """The proposal in a notebook: what to do, what was read, warnings, and a row for each keyword."""
        lines = [html_paragraph(self.headline, strong=True)]
        lines += [html_paragraph(f"Read: {self.known}.")] if self.known is not None else []
        lines += [html_paragraph(f"Note: {note[:1].upper()}{note[1:]}") for note in self.notes]
        return "\n".join([*lines, html_table(COLUMNS, [row_of(reason) for reason in self.in_order])])

    @property
    def in_order(self) -> list[Reason]:
        """The reasons, first of what is added."""
        return sorted(self.reasons, key=lambda reason: ORDER.index(reason.action))

    @property
    def next_keywords(self) -> KeywordSet:
        """The list to use next."""
        return self.keep | self.add

    @property
    def headline(self) -> str:
        """What to do, in one sentence.

        >>> Proposal(policy="klda", current=KeywordSet.of("vote"), keep=KeywordSet.of("vote")).headline
        'Keep the list as it is.'
        """
        steps = [f"{verb} {_some(words.texts)}" for verb, words in (("add", self.add), ("drop", self.drop)) if words]
        if not steps:
            return "Keep the list as it is."
        said = " and ".join(steps)
        then, now = self.expected_posts, self.posts_now
        if then is None or now is None or (self.at_least and round(then.mean) <= round(now.mean)):
            return f"{said[0].upper()}{said[1:]}."
        about = "at least" if self.at_least else "about"
        often = self.known.often if self.known else "a window"
        return f"{said[0].upper()}{said[1:]}: {about} {then.mean:,.0f} posts {often} instead of {now.mean:,.0f}."

    def what_if(self, keywords: Iterable[str]) -> Outlook:
        """What any list would bring, against the current one; a word that is no candidate is looked up in the posts."""
        if self.choices is None:
            raise DataError(f"the proposal of {self.policy} keeps nothing to weigh lists by; make it with policy klda")
        from klda.advice.choices import what_if  # which knows proposals

        return what_if(self.choices, keywords)

    def with_exclusions(self, exclusions: KeywordSet) -> Proposal:
        """The same advice for a list with these exclusions, which stay; they were heeded when it was made."""
        if not exclusions:
            return self
        text = sentences([SENTENCES["exclusion"]])
        return replace(
            self,
            current=self.current | exclusions,
            keep=self.keep | exclusions,
            reasons=(*self.reasons, *(Reason(k, "keep", text, code="exclusion") for k in exclusions)),
            choices=self.choices and replace(self.choices, exclusions=exclusions),
        )

    def to_frame(self, library: Literal["polars", "pandas"] = "polars") -> Any:
        """A row for each keyword as a frame of Polars, or of pandas where that is installed; additions come first.

        >>> health = KeywordSet.of("health")
        >>> reasons = (Reason(health[0], "keep", frequency=9, text="Kept."),)
        >>> Proposal("static", health, keep=health, reasons=reasons).to_frame().columns
        ['action', 'keyword', 'reason', 'posts', 'new posts', 'relevance']
        """
        rows = [
            (
                r.action,
                r.keyword.text,
                r.text,
                None if r.expected_posts is None else float(r.expected_posts.mean),
                None if r.new_posts is None else float(r.new_posts),
                r.relevance,
            )
            for r in self.in_order
        ]
        texts, numbers = ("action", "keyword", "reason"), ("posts", "new posts", "relevance")
        return frame_of(rows, dict.fromkeys(texts, str) | dict.fromkeys(numbers, float), library)

    def reason(self, keyword: str | Keyword) -> Reason | None:
        """The reason given for a keyword, if any."""
        return next((r for r in self.reasons if r.keyword.text == str(keyword)), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the version of the schema."""
        plain = asdict(replace(self, choices=None))
        del plain["choices"]
        for name in ("current", "ranked", "keep", "add", "drop"):
            plain[name] = [_keyword_to_dict(k) for k in getattr(self, name)]
        plain["reasons"] = [asdict(r) | {"keyword": _keyword_to_dict(r.keyword)} for r in self.reasons]
        next_list = [_keyword_to_dict(k) for k in self.next_keywords]
        return {"schema": SCHEMA_VERSION, "headline": self.headline, "next": next_list} | plain

    def to_json(self) -> str:
        """The proposal as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str, name: str = "proposal") -> Proposal:
        """The proposal in a JSON text; `name` is what an error calls it."""
        try:
            return cls.from_dict(json.loads(text), name)
        except json.JSONDecodeError as error:
            raise FormatError(
                f"{name}: not JSON (line {error.lineno}: {error.msg}); give a file that klda wrote"
            ) from error

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], name: str = "proposal") -> Proposal:
        """The proposal in plain data, as `to_dict` gives it."""
        version = plain.get("schema") if isinstance(plain, Mapping) else None
        if version != SCHEMA_VERSION:
            raise FormatError(f"{name}: schema {version!r}, this klda reads {SCHEMA_VERSION}; make the proposal again")
        try:
            values = {k: v for k, v in plain.items() if k not in ("schema", "headline", "next")}
            for key in ("current", "ranked", "keep", "add", "drop"):
                values[key] = KeywordSet(tuple(_keyword_from_dict(k) for k in values.get(key, [])))
            values["per_keyword"] = {k: tuple(v) for k, v in values.get("per_keyword", {}).items()}
            values["reasons"] = tuple(_reason_from_dict(r) for r in values.get("reasons", []))
            values["expected_posts"] = _estimate(values.get("expected_posts"))
            values["posts_now"] = _estimate(values.get("posts_now"))
            values["known"] = Known(**values["known"]) if values.get("known") else None
            values["frontier"] = tuple(
                FrontierPoint(**(p | {"keywords": tuple(p["keywords"])})) for p in values.get("frontier", [])
            )
            values["notes"] = tuple(values.get("notes", []))
            return cls(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise FormatError(f"{name}: not a proposal ({error}); give a file that klda wrote") from error


def row_of(reason: Reason) -> tuple[object, ...]:
    """A row of the table of a proposal: what to do with a keyword, its posts, how many are new, and why."""
    posts = reason.expected_posts and round(reason.expected_posts.mean)
    new = None if reason.new_posts is None else round(reason.new_posts)
    return (reason.action, reason.keyword.text, posts, new, reason.text)


def write_proposal(proposal: Proposal, path: Path | str) -> None:
    """Writes a proposal as JSON; a file that is there is replaced whole."""
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(proposal.to_json() + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: the proposal cannot be written ({error.strerror}); give another path") from error
    finally:
        with suppress(OSError):  # gone to its place, or never begun
            unfinished.unlink()


def read_proposal(path: Path | str) -> Proposal:
    """The proposal in a JSON file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); give a proposal that klda recommend --save wrote"
        ) from error
    return Proposal.from_json(text, str(path))


def _some(texts: tuple[str, ...], most: int = 3) -> str:
    """The first few words, and how many more there are.

    >>> _some(("a", "b", "c", "d", "e")), _some(("a", "b"))
    ('a, b, c and 2 more', 'a and b')
    """
    if len(texts) > most + 1:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _keyword_to_dict(keyword: Keyword) -> dict[str, Any]:
    return {"text": keyword.text, "forms": list(keyword.forms)}


def _keyword_from_dict(plain: Mapping[str, Any]) -> Keyword:
    return Keyword(plain["text"], tuple(plain["forms"]))


def _estimate(plain: Mapping[str, float] | None) -> Estimate | None:
    return None if plain is None else Estimate(**plain)


def _reason_from_dict(plain: Mapping[str, Any]) -> Reason:
    values = dict(plain) | {
        "keyword": _keyword_from_dict(plain["keyword"]),
        "examples": tuple(Example(**e) for e in plain.get("examples", [])),
    }
    for name in ("expected_posts", "divergence", "high_frequency_distance"):
        values[name] = _estimate(plain.get(name))
    for name in ("gained", "lost"):
        values[name] = tuple(plain.get(name, ()))
    return Reason(**values)
