"""A keyword list as a platform wants it: what to send, in which order, within the platform's limits.

Limits and syntax are those of the platforms' own documentation: X v1.1 `statuses/filter` (400 track terms of 60
bytes), X v2 filtered stream (1,000 rules of 1,024 characters, rules deleted by value), Jetstream (no filter on text),
Mastodon (hashtags made of letters, digits and underscores, not of digits alone). What a platform cannot say is asked
for more broadly, and filtered on our side.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from typing import Any, Literal, get_args

from klda.errors import SettingError
from klda.query import All, Condition, Either, SearchTerm, parse_query
from klda.streams.boolean_queries import TOOLS, Tool, boolean_queries
from klda.types import KeywordSet

Platform = Literal["x-v1", "x-v2", "bluesky", "mastodon", "brandwatch", "meltwater", "talkwalker", "media-cloud"]
PLATFORMS: tuple[Platform, ...] = get_args(Platform)

NAMES = {
    "x-v1": "X, API v1.1",
    "x-v2": "X, API v2",
    "bluesky": "Bluesky",
    "mastodon": "Mastodon",
    **{name: tool.name for name, tool in TOOLS.items()},
}
"""What people call each platform."""
X1_TERMS, X1_BYTES = 400, 60
X2_RULES, X2_CHARACTERS = 1_000, 1_024
X2_EXCLUSIONS = 512
"""Characters of a rule that exclusions may take; those that find no room are filtered on our side."""
MOST_ALTERNATIVES = 25
"""Terms of X v1.1 that one keyword may become; with more, it is asked for more broadly."""
_OR = " OR "


@dataclass(frozen=True)
class _List:
    """The forms of a list, each once."""

    terms: tuple[str, ...]
    exclusions: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.terms, *self.exclusions)


_Make = Callable[[_List, _List, bool], tuple[list[dict[str, Any]], list[str]]]


@dataclass(frozen=True)
class Rules:
    """What a platform (or the filter on our side) is to be given, in order, so that no post is lost in between."""

    platform: Platform
    terms: tuple[str, ...]
    """Every form of the list, once; exclusions last."""
    add: tuple[str, ...]
    """Terms that the current list does not have."""
    remove: tuple[str, ...]
    """Terms that only the current list has."""
    requests: tuple[dict[str, Any], ...]
    """Bodies to send or settings to load, the first one first."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @property
    def text(self) -> str:
        """What to send or to paste: queries as they are, requests and settings as JSON."""
        if self.platform in TOOLS:
            return "\n".join(body["query"] for body in self.requests)
        return "\n".join(json.dumps(body, ensure_ascii=False, indent=2) for body in self.requests)

    def to_json(self) -> str:
        """The rules as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def platform_rules(
    keywords: KeywordSet,
    platform: Platform,
    *,
    current: KeywordSet | None = None,
    adjacent: bool = False,
    owner: str = "",
) -> Rules:
    """The list as rules for the platform; with `current`, the step from that list to this one.

    `adjacent` says that the words of a phrase stand side by side, as in `Corpus.adjacent`; otherwise all of them
    have to be there, in any order. `owner`, such as the name of a monitor, goes into the tags of X v2's rules.

    >>> rules = platform_rules(KeywordSet.of("health", "computer virus"), "x-v2", current=KeywordSet.of("health"))
    >>> rules.requests[0]["add"][0]["value"]
    '(computer virus) OR health'
    >>> rules.requests[1]
    {'delete': {'values': ['health']}}
    >>> rules.add, rules.remove
    (('computer virus',), ())
    """
    if platform not in PLATFORMS:
        raise SettingError(f"platform {platform!r} is not known; choose one of {', '.join(PLATFORMS)}")
    new, old = _listed(keywords), _listed(current or KeywordSet())
    if not new.terms:
        raise SettingError(
            "the keyword list is empty but for exclusions, so there is nothing to follow; give at least one keyword"
        )
    known, wanted = {t.casefold() for t in old.all}, {t.casefold() for t in new.all}
    add = tuple(t for t in new.all if t.casefold() not in known)
    remove = tuple(t for t in old.all if t.casefold() not in wanted)
    x_v2 = partial(_x_v2, ours=tag_of(owner))
    make: dict[str, _Make] = {"x-v1": _x_v1, "x-v2": x_v2, "bluesky": _bluesky, "mastodon": _mastodon}
    make |= {name: partial(_pasted, tool=tool) for name, tool in TOOLS.items()}
    requests, notes = make[platform](new, old, adjacent)
    return Rules(platform, new.all, add, remove, tuple(requests), tuple(notes))


def tag_of(owner: str = "") -> str:
    """How the tags of an owner's rules begin, and those of no other: by it they are told apart on one account.

    >>> tag_of("health"), tag_of()
    ('klda health: ', 'klda: ')
    """
    return f"klda {owner}: " if owner else "klda: "


def hashtags(keywords: KeywordSet) -> tuple[str, ...]:
    """The hashtags that Mastodon's timelines can be asked for; a list without any is refused.

    >>> hashtags(KeywordSet.of("#Health", "computer virus"))
    ('health',)
    """
    tags = _hashtags(_listed(keywords).terms)
    if not tags:
        raise SettingError("none of the keywords can be a hashtag; follow the public timeline instead")
    return tags


def _x_v1(new: _List, old: _List, adjacent: bool) -> tuple[list[dict[str, Any]], list[str]]:
    queries = [parse_query(term).condition for term in new.terms]
    terms = list(dict.fromkeys(" ".join(words) for query in queries for words in _alternatives(query)))
    if len(terms) > X1_TERMS:
        raise SettingError(
            f"X v1.1 tracks at most {X1_TERMS} terms and this list has {len(terms)} (each form counts as one): "
            f"take out {len(terms) - X1_TERMS}"
        )
    for term in terms:
        if "," in term:
            raise SettingError(f"{term!r}: X v1.1 separates terms by commas, so a term cannot hold one; leave it out")
        size = len(term.encode())
        if size > X1_BYTES:
            raise SettingError(
                f"{term!r}: X v1.1 takes at most {X1_BYTES} bytes a term and this one has {size}: "
                f"shorten it by {size - X1_BYTES}"
            )
    notes = []
    if old.terms:
        notes.append("X v1.1 cannot change a running stream: connect with the new list, then close the old connection.")
    if any(_has_order(query, adjacent) for query in queries):
        notes.append("X v1.1 matches the words of a phrase in any order: filter again on arrival.")
    if new.exclusions or any(_leaves_out(query) for query in queries):
        notes.append("X v1.1 cannot leave out posts: filter again on arrival.")
    return [{"track": terms}], notes


def _x_v2(wanted: _List, before: _List, adjacent: bool, ours: str) -> tuple[list[dict[str, Any]], list[str]]:
    new, old = _pack(wanted, adjacent, ours), _pack(before, adjacent, ours)
    add = [rule for value, rule in new.items() if value not in old]
    delete = [value for value in old if value not in new]
    together = len(old) + len(add)
    if together > X2_RULES:
        during = f" while {len(old)} old ones still run" if old else ""
        raise SettingError(
            f"X v2 takes at most {X2_RULES} rules of {X2_CHARACTERS} characters and this list needs "
            f"{together}{during}: {together - X2_RULES} too many; take out keywords or forms"
        )
    # New rules first: while both run, a post may match twice, but none is missed.
    requests: list[dict[str, Any]] = [{"add": add}] if add else []
    requests += [{"delete": {"values": delete}}] if delete else []
    notes = []
    if delete:
        notes.append(
            "The rules to delete are those that klda makes of the current list; if yours were written by hand, "
            "list them with GET /2/tweets/search/stream/rules and delete them by id."
        )
    rest = [term for term in wanted.terms if not _is_said(parse_query(term).condition, adjacent)]
    if rest := [*rest, *_not_excluded(wanted, adjacent)]:
        notes.append(f"X v2 cannot say all of {', '.join(rest)}: filter again on arrival, as klda does.")
    return requests, notes


def _bluesky(new: _List, old: _List, adjacent: bool) -> tuple[list[dict[str, Any]], list[str]]:
    del old  # the filter is ours: the whole list replaces the old one at once
    settings = {
        "wantedCollections": ["app.bsky.feed.post"],
        "terms": list(new.all),
        "phrases": "side by side" if adjacent else "all words, any order",
    }
    return [settings], ["Jetstream does not filter text: every post arrives and the terms are matched on our side."]


def _mastodon(new: _List, old: _List, adjacent: bool) -> tuple[list[dict[str, Any]], list[str]]:
    follow, before = _hashtags(new.terms), _hashtags(old.terms)
    settings = {
        "follow": [tag for tag in follow if tag not in before],
        "unfollow": [tag for tag in before if tag not in follow],
        "hashtags": list(follow),
        "terms": list(new.all),
        "phrases": "side by side" if adjacent else "all words, any order",
    }
    rest = [term for term in new.all if not _hashtags([term]) or term in new.exclusions]
    notes = [f"Not to be followed as hashtags, only as filter terms: {', '.join(rest)}."] if rest else []
    return [settings], notes


def _pasted(new: _List, old: _List, adjacent: bool, tool: Tool) -> tuple[list[dict[str, Any]], list[str]]:
    del old  # the new query replaces the old one
    queries, notes = boolean_queries(new.terms, new.exclusions, tool, adjacent=adjacent)
    return [{"query": query} for query in queries], notes


def _listed(keywords: KeywordSet) -> _List:
    """Every form once, in order; platforms do not tell upper from lower case."""
    first: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for keyword in keywords:
        for form in keyword.forms:
            term = " ".join(form.split())
            if not term:
                raise SettingError(f"keyword {keyword.text!r} has an empty form; leave it out")
            if hidden := next((c for c in term if unicodedata.category(c) in ("Cc", "Cs")), None):
                raise SettingError(f"{term!r}: holds the control character U+{ord(hidden):04X}; take it out")
            first[keyword.excludes].setdefault(term.casefold() if keyword.is_plain else term, term)
    terms, exclusions = (tuple(one.values()) for one in first)
    return _List(terms, exclusions)


def _alternatives(condition: Condition) -> list[tuple[str, ...]]:
    """Words of which a post must have all, in several alternatives; more posts may have them than meet the condition.

    >>> _alternatives(parse_query("apple AND (iphone OR ios) -pie").condition)
    [('apple', 'iphone'), ('apple', 'ios')]
    """
    if isinstance(condition, SearchTerm):
        return [condition.words]
    of_parts = [_alternatives(part) for part in condition.parts]
    if isinstance(condition, Either):
        return [words for part in of_parts for words in part]
    together = [tuple(dict.fromkeys(word for words in some for word in words)) for some in product(*of_parts)]
    return together if len(together) <= MOST_ALTERNATIVES else min(of_parts, key=len)


def _parts(condition: Condition) -> Iterator[Condition]:
    """The condition and all that it is made of, but for what it leaves out."""
    yield condition
    for part in () if isinstance(condition, SearchTerm) else condition.parts:
        yield from _parts(part)


def _has_order(condition: Condition, adjacent: bool) -> bool:
    terms = [part for part in _parts(condition) if isinstance(part, SearchTerm)]
    return any(len(term.words) > 1 and (term.in_order or adjacent) for term in terms)


def _leaves_out(condition: Condition) -> bool:
    return any(isinstance(part, All) and part.without for part in _parts(condition))


def _pack(wanted: _List, adjacent: bool, ours: str) -> dict[str, dict[str, str]]:
    """As few rules as first-fit-decreasing gives, by value; the order of the list does not change them."""
    behind = "".join(f" {clause}" for clause in _excluded(wanted, adjacent))
    most = X2_CHARACTERS - len(behind) - (len("()") if behind else 0)
    rules: list[list[str]] = []
    room: list[int] = []
    clauses = {_clause(parse_query(term).condition, adjacent): term for term in wanted.terms}
    for clause in sorted(clauses, key=lambda c: (-len(c), c)):
        if len(clause) > most:
            raise SettingError(
                f"{clauses[clause][:40]!r}…: X v2 takes at most {X2_CHARACTERS} characters a rule and this term needs "
                f"{len(clause) + X2_CHARACTERS - most}: shorten it by {len(clause) - most}"
            )
        size = len(clause) + len(_OR)
        place = next((i for i, left in enumerate(room) if size <= left), len(rules))
        if place == len(rules):
            rules.append([])
            room.append(most + len(_OR))
        rules[place].append(clause)
        room[place] -= size
    packed = {}
    for rule in rules:
        first = clauses[rule[0]][:40]
        value = f"({_OR.join(rule)}){behind}" if behind and len(rule) > 1 else f"{_OR.join(rule)}{behind}"
        packed[value] = {
            "value": value,
            "tag": f"{ours}{first} and {len(rule) - 1} more" if len(rule) > 1 else f"{ours}{first}",
        }
    return packed


def _excluded(wanted: _List, adjacent: bool) -> tuple[str, ...]:
    """The exclusions as negated words and phrases, in alphabetical order, as far as X v2 can say them."""
    known = {clause for text in wanted.exclusions for clause in _negated(parse_query(text).condition, adjacent) or ()}
    clauses, length = [], 0
    for clause in sorted(known):
        length += len(clause) + 1
        if length <= X2_EXCLUSIONS:
            clauses.append(clause)
    return tuple(clauses)


def _not_excluded(wanted: _List, adjacent: bool) -> list[str]:
    """The exclusions that rules of X v2 leave to us."""
    said = set(_excluded(wanted, adjacent))
    asked = {text: _negated(parse_query(text).condition, adjacent) for text in wanted.exclusions}
    return [text for text, clauses in asked.items() if clauses is None or not said.issuperset(clauses)]


def _negated(condition: Condition, adjacent: bool) -> list[str] | None:
    """Words and phrases, each with a minus sign, of which a post must have none; None where X v2 cannot say that.

    It negates no group: instead of -(a OR b), -a -b is written; -(a b) has no such form.
    """
    parts = condition.parts if isinstance(condition, Either) else (condition,)
    found = []
    for part in parts:
        if not isinstance(part, SearchTerm) or (len(part.words) > 1 and not (part.in_order or adjacent)):
            return None
        found.append(f"-{_clause(part, adjacent)}")
    return found


def _is_said(condition: Condition, adjacent: bool) -> bool:
    """Whether X v2 can say all that a condition leaves out."""
    left_out = (other for part in _parts(condition) if isinstance(part, All) for other in part.without)
    return all(_negated(other, adjacent) is not None for other in left_out)


def _clause(condition: Condition, adjacent: bool) -> str:
    """A condition in X v2's language, in which anything but a plain word, hashtag or mention has to be quoted.

    What X v2 cannot leave out stays in.

    >>> _clause(parse_query("apple AND (iphone OR ios) -(pie OR cake)").condition, adjacent=False)
    '(apple (iphone OR ios) -pie -cake)'
    """
    if isinstance(condition, SearchTerm):
        return _term(condition, adjacent)
    parts = [_clause(part, adjacent) for part in condition.parts]
    if isinstance(condition, Either):
        return f"({_OR.join(parts)})"
    without = (clause for part in condition.without for clause in _negated(part, adjacent) or ())
    said = [*parts, *without]
    return said[0] if len(said) == 1 else f"({' '.join(said)})"


def _term(term: SearchTerm, adjacent: bool) -> str:
    text = " ".join(term.words)
    if '"' in text:
        raise SettingError(f'{text!r}: X v2 quotes with " and cannot match that character; take it out')
    if "\\" in text:
        raise SettingError(f"{text!r}: X v2 reads \\ as an escape and cannot match it; take it out")
    if len(term.words) > 1 and (term.in_order or adjacent):
        return f'"{text}"'
    plain = (re.fullmatch(r"[#@]?\w+", w) and w.upper() not in ("OR", "AND", "NOT") for w in term.words)
    words = [word if is_plain else f'"{word}"' for word, is_plain in zip(term.words, plain, strict=True)]
    return words[0] if len(words) == 1 else f"({' '.join(words)})"


def _hashtags(terms: Sequence[str]) -> tuple[str, ...]:
    """The hashtags of keywords that one word is enough for."""
    alternatives = (words for term in terms for words in _alternatives(parse_query(term).condition))
    tags = (_hashtag(words[0]) for words in alternatives if len(words) == 1)
    return tuple(dict.fromkeys(tag for tag in tags if tag is not None))


def _hashtag(term: str) -> str | None:
    """The hashtag of a single word, without its sign; None when it cannot be one."""
    tag = term.removeprefix("#")
    return tag.casefold() if re.fullmatch(r"\w*[^\W\d]\w*", tag) else None
