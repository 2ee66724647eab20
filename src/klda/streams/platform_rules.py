"""A keyword list as a platform wants it: what to send, in which order, within the platform's limits.

Limits and syntax are those of the platforms' own documentation: X v1.1 `statuses/filter` (400 track terms of 60
bytes), X v2 filtered stream (1,000 rules of 1,024 characters, rules deleted by value), Jetstream (no filter on text),
Mastodon (hashtags made of letters, digits and underscores, not of digits alone).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, get_args

from klda.errors import SettingError
from klda.types import KeywordSet

Platform = Literal["x-v1", "x-v2", "bluesky", "mastodon"]
PLATFORMS: tuple[Platform, ...] = get_args(Platform)

X1_TERMS, X1_BYTES = 400, 60
X2_RULES, X2_CHARACTERS = 1_000, 1_024
_OR = " OR "
_Make = Callable[[Sequence[str], Sequence[str], bool], tuple[list[dict[str, Any]], list[str]]]


@dataclass(frozen=True)
class Rules:
    """What a platform (or the filter on our side) is to be given, in order, so that no post is lost in between."""

    platform: Platform
    terms: tuple[str, ...]
    """Every surface form of the list, once."""
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
    terms, before = _terms(keywords), _terms(current or KeywordSet())
    if not terms:
        raise SettingError("the keyword list is empty, so there is nothing to follow; give at least one keyword")
    known, wanted = {t.casefold() for t in before}, {t.casefold() for t in terms}
    add = tuple(t for t in terms if t.casefold() not in known)
    remove = tuple(t for t in before if t.casefold() not in wanted)
    x_v2 = partial(_x_v2, ours=tag_of(owner))
    make: dict[Platform, _Make] = {"x-v1": _x_v1, "x-v2": x_v2, "bluesky": _bluesky, "mastodon": _mastodon}
    requests, notes = make[platform](terms, before, adjacent)
    return Rules(platform, terms, add, remove, tuple(requests), tuple(notes))


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
    tags = _hashtags(_terms(keywords))
    if not tags:
        raise SettingError("none of the keywords can be a hashtag; follow the public timeline instead")
    return tags


def _x_v1(terms: Sequence[str], before: Sequence[str], adjacent: bool) -> tuple[list[dict[str, Any]], list[str]]:
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
    if before:
        notes.append("X v1.1 cannot change a running stream: connect with the new list, then close the old connection.")
    if adjacent and any(" " in term for term in terms):
        notes.append("X v1.1 matches the words of a phrase in any order: filter again on arrival.")
    return [{"track": list(terms)}], notes


def _x_v2(
    terms: Sequence[str], before: Sequence[str], adjacent: bool, ours: str
) -> tuple[list[dict[str, Any]], list[str]]:
    new, old = _pack(terms, adjacent, ours), _pack(before, adjacent, ours)
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
    return requests, notes


def _bluesky(terms: Sequence[str], before: Sequence[str], adjacent: bool) -> tuple[list[dict[str, Any]], list[str]]:
    del before  # the filter is ours: the whole list replaces the old one at once
    settings = {
        "wantedCollections": ["app.bsky.feed.post"],
        "terms": list(terms),
        "phrases": "side by side" if adjacent else "all words, any order",
    }
    return [settings], ["Jetstream does not filter text: every post arrives and the terms are matched on our side."]


def _mastodon(terms: Sequence[str], before: Sequence[str], adjacent: bool) -> tuple[list[dict[str, Any]], list[str]]:
    follow, old = _hashtags(terms), _hashtags(before)
    settings = {
        "follow": [tag for tag in follow if tag not in old],
        "unfollow": [tag for tag in old if tag not in follow],
        "hashtags": list(follow),
        "terms": list(terms),
        "phrases": "side by side" if adjacent else "all words, any order",
    }
    rest = [term for term in terms if _hashtag(term) is None]
    notes = [f"Not to be followed as hashtags, only as filter terms: {', '.join(rest)}."] if rest else []
    return [settings], notes


def _terms(keywords: KeywordSet) -> tuple[str, ...]:
    """Every form once, in order; platforms do not tell upper from lower case."""
    first: dict[str, str] = {}
    for keyword in keywords:
        for form in keyword.forms:
            term = " ".join(form.split())
            if not term:
                raise SettingError(f"keyword {keyword.text!r} has an empty form; leave it out")
            if hidden := next((c for c in term if unicodedata.category(c) in ("Cc", "Cs")), None):
                raise SettingError(f"{term!r}: holds the control character U+{ord(hidden):04X}; take it out")
            first.setdefault(term.casefold(), term)
    return tuple(first.values())


def _pack(terms: Sequence[str], adjacent: bool, ours: str) -> dict[str, dict[str, str]]:
    """As few rules as first-fit-decreasing gives, by value; the order of the list does not change them."""
    rules: list[list[str]] = []
    room: list[int] = []
    clauses = {_clause(term, adjacent): term for term in terms}
    for clause in sorted(clauses, key=lambda c: (-len(c), c)):
        if len(clause) > X2_CHARACTERS:
            raise SettingError(
                f"{clauses[clause][:40]!r}…: X v2 takes at most {X2_CHARACTERS} characters a rule and this term needs "
                f"{len(clause)}: shorten it by {len(clause) - X2_CHARACTERS}"
            )
        size = len(clause) + len(_OR)
        place = next((i for i, left in enumerate(room) if size <= left), len(rules))
        if place == len(rules):
            rules.append([])
            room.append(X2_CHARACTERS + len(_OR))
        rules[place].append(clause)
        room[place] -= size
    packed = {}
    for rule in rules:
        first = clauses[rule[0]][:40]
        packed[_OR.join(rule)] = {
            "value": _OR.join(rule),
            "tag": f"{ours}{first} and {len(rule) - 1} more" if len(rule) > 1 else f"{ours}{first}",
        }
    return packed


def _clause(term: str, adjacent: bool) -> str:
    """A term in X v2's language, in which anything but a plain word, hashtag or mention has to be quoted."""
    if '"' in term:
        raise SettingError(f'{term!r}: X v2 quotes with " and cannot match that character; take it out')
    if "\\" in term:
        raise SettingError(f"{term!r}: X v2 reads \\ as an escape and cannot match it; take it out")
    words = term.split(" ")
    if adjacent and len(words) > 1:
        return f'"{term}"'
    quoted = [w if re.fullmatch(r"[#@]?\w+", w) and w.upper() not in ("OR", "AND", "NOT") else f'"{w}"' for w in words]
    return quoted[0] if len(quoted) == 1 else f"({' '.join(quoted)})"


def _hashtags(terms: Sequence[str]) -> tuple[str, ...]:
    tags = (_hashtag(term) for term in terms)
    return tuple(dict.fromkeys(tag for tag in tags if tag is not None))


def _hashtag(term: str) -> str | None:
    """The hashtag of a single word, without its sign; None when it cannot be one."""
    tag = term.removeprefix("#")
    return tag.casefold() if re.fullmatch(r"\w*[^\W\d]\w*", tag) else None
