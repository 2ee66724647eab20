"""Keyword lists as Boolean queries, to be pasted into Brandwatch, Meltwater, Talkwalker or Media Cloud.

All four know AND, OR, NOT in capitals, quotes and parentheses. They differ in how they write NOT, in the length of a
query, and in what they make of signs. What they share is written out: AND between all words (Media Cloud joins words by
OR), quotes around phrases (Brandwatch takes loose words for a phrase), parentheses around every group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from klda.errors import SettingError
from klda.query import All, Condition, Either, SearchTerm, parse_query

_OR = " OR "


@dataclass(frozen=True)
class Tool:
    """How a tool writes queries."""

    name: str
    not_: str = " NOT "
    most: int | None = None
    """Characters of one query, where a limit is documented; longer lists become lines, which the tool joins by OR."""
    knows_hashtags: bool = True


TOOLS = {
    "brandwatch": Tool("Brandwatch"),
    "meltwater": Tool("Meltwater"),
    "talkwalker": Tool("Talkwalker", not_=" AND NOT ", most=4_096),
    "media-cloud": Tool("Media Cloud", knows_hashtags=False),
}


def boolean_queries(
    terms: Sequence[str], exclusions: Sequence[str], tool: Tool, *, adjacent: bool = False
) -> tuple[list[str], list[str]]:
    """A list as few queries as the tool takes, and notes on what it reads differently.

    >>> boolean_queries(["apple AND (iphone OR ios)", "burn pits"], ["-pie"], TOOLS["talkwalker"])[0]
    ['((apple AND (iphone OR ios)) OR (burn AND pits)) AND NOT pie']
    """
    clauses = list(dict.fromkeys(clause(parse_query(term).condition, tool, adjacent) for term in terms))
    left_out = [clause(parse_query(text).condition, tool, adjacent) for text in exclusions]
    behind = f"{tool.not_}{_group(left_out)}" if left_out else ""
    queries: list[list[str]] = [[]]
    for one in clauses:
        if tool.most is not None and len(_whole([one], behind)) > tool.most:
            raise SettingError(
                f"{one[:40]!r}…: {tool.name} takes at most {tool.most:,} characters a line, and with the exclusions "
                f"this one needs {len(_whole([one], behind)):,}; shorten it"
            )
        if tool.most is not None and len(_whole([*queries[-1], one], behind)) > tool.most:
            queries.append([])
        queries[-1].append(one)
    return [_whole(some, behind) for some in queries], _notes([*terms, *exclusions], tool, len(queries))


def clause(condition: Condition, tool: Tool, adjacent: bool = False) -> str:
    """A condition in the language of a tool; whatever has an operator stands in parentheses.

    >>> clause(parse_query('apple -(pie OR "apple juice")').condition, TOOLS["meltwater"])
    '(apple NOT (pie OR "apple juice"))'
    """
    if isinstance(condition, SearchTerm):
        if len(condition.words) > 1 and (condition.in_order or adjacent):
            return f'"{" ".join(condition.words)}"'
        words = [word if _is_plain(word) else f'"{word}"' for word in condition.words]
        return words[0] if len(words) == 1 else f"({' AND '.join(words)})"
    parts = [clause(part, tool, adjacent) for part in condition.parts]
    if isinstance(condition, Either):
        return f"({_OR.join(parts)})"
    without = [clause(other, tool, adjacent) for part in condition.without for other in _either(part)]
    return f"({' AND '.join(parts)}{tool.not_ + _group(without) if without else ''})"


def _either(condition: Condition) -> tuple[Condition, ...]:
    return condition.parts if isinstance(condition, Either) else (condition,)


def _group(clauses: Sequence[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"({_OR.join(clauses)})"


def _whole(clauses: Sequence[str], behind: str) -> str:
    """A query of these clauses; what is left out stands behind all of them."""
    return f"{_group(clauses)}{behind}" if behind else _OR.join(clauses)


def _is_plain(word: str) -> bool:
    return bool(re.fullmatch(r"[#@]?\w+", word)) and word.upper() not in ("AND", "OR", "NOT", "NEAR")


def _notes(terms: Sequence[str], tool: Tool, n_queries: int) -> list[str]:
    """What the tool reads differently than klda, with the words concerned."""
    words = list(dict.fromkeys(word for text in terms for word in _all_words(parse_query(text).condition)))
    notes = []
    if n_queries > 1:
        notes.append(f"{tool.name} joins the lines of a topic by OR; each line has the exclusions.")
    if signs := [word for word in words if not _is_plain(word)]:
        notes.append(f"{tool.name} may ignore the signs in {', '.join(signs)}: look at the results.")
    if not tool.knows_hashtags and (tags := [word for word in words if word[0] in "#@" and _is_plain(word)]):
        notes.append(f"{tool.name} searches news, without hashtags and mentions: {', '.join(tags)} may find the word.")
    return notes


def _all_words(condition: Condition) -> tuple[str, ...]:
    """Every word of a condition, wanted or not."""
    if isinstance(condition, SearchTerm):
        return condition.words
    parts = (*condition.parts, *(condition.without if isinstance(condition, All) else ()))
    return tuple(word for part in parts for word in _all_words(part))
