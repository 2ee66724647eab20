"""What people type for a keyword: words, phrases, AND, OR, and what to leave out.

`burn pits`                    both words, in any order
`"burn pits"`                  side by side, in this order
`apple AND (iphone OR ios)`    a second word is required
`apple -pie`, `apple NOT pie`  this keyword, without posts that have *pie*
`-pie`                         an exclusion: the whole list, without posts that have *pie*

AND, OR and NOT are written in capitals. AND binds more tightly than OR. Quotes take anything literally: `"-5"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from klda.errors import QueryError
from klda.safe_text import visible

QUOTES = '"“”„‟'
"""Quotation marks, straight and as text programs write them."""
_STRAIGHT = str.maketrans(dict.fromkeys(QUOTES, '"'))
_MINUS = "-\u2010\u2011\u2013\u2212"
_OPERATORS = ("AND", "OR", "NOT")
_SPECIAL = re.compile(rf"[(){QUOTES}]|(?:^|\s)[{_MINUS}]|(?:^|\s)(?:AND|OR|NOT)(?:\s|$)")
_TOKEN = re.compile(rf"\s*(?:(?P<quoted>\"[^\"]*\"?)|(?P<sign>[()]|[{_MINUS}])|(?P<word>[^\s()\"]+))")
_LITERAL = re.compile(rf"[()\",;\s]|^[{_MINUS}]|^(?:AND|OR|NOT)$")


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """One word or several; all of them have to occur."""

    words: tuple[str, ...]
    in_order: bool = False
    """Whether they stand side by side, in this order."""


@dataclass(frozen=True, slots=True)
class All:
    """All of several conditions, and none of some others."""

    parts: tuple[Condition, ...]
    without: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of several conditions."""

    parts: tuple[Condition, ...]


Condition = SearchTerm | All | Either


@dataclass(frozen=True, slots=True)
class Query:
    """One keyword as a condition on a post. `str` gives the text back, in one spelling.

    >>> str(parse_query("apple  NOT pie")), str(parse_query('“burn pits” veterans'))
    ('apple -pie', '"burn pits" AND veterans')
    """

    condition: Condition
    excludes: bool = False
    """Whether posts that meet the condition are left out, whatever the rest of the list says."""

    def __str__(self) -> str:
        if not self.excludes:
            return written(self.condition)
        return f"-{_unit(self.condition, loose=True)}"

    @property
    def is_plain(self) -> bool:
        """Whether it is only words, as most keywords are."""
        return not self.excludes and isinstance(self.condition, SearchTerm) and not self.condition.in_order

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a post is asked for, each once; those that it must not have are left out.

        >>> parse_query('apple AND (iphone OR "ipad pro") -pie').words
        ('apple', 'iphone', 'ipad', 'pro')
        """
        return tuple(dict.fromkeys(_words(self.condition)))


@lru_cache(maxsize=65_536)
def parse_query(text: str) -> Query:
    """The query that somebody typed; a `QueryError` shows the place that cannot be understood.

    >>> parse_query("apple AND (iphone OR ios)").condition.parts[0]
    SearchTerm(words=('apple',), in_order=False)
    >>> print(_error_of("apple AND (iphone OR ios"))
    a parenthesis is not closed; add a )
      apple AND (iphone OR ios
                ^
    """
    if not has_signs(text):
        return Query(SearchTerm(tuple(text.split())))
    return _Parser(" ".join(text.translate(_STRAIGHT).split())).query()


def has_signs(text: str) -> bool:
    """Whether a keyword is more than words: it has quotes, parentheses, an operator, or something to leave out.

    >>> has_signs("covid-19 and flu"), has_signs("covid -19")
    (False, True)
    """
    return _SPECIAL.search(text) is not None


def split_list(text: str, separators: str = ",") -> list[str]:
    """The entries of a list, each as one text; separators inside quotes or parentheses separate nothing.

    >>> split_list('health, "burn pits",, tax AND (cut, OR rise)')
    ['health', '"burn pits"', 'tax AND (cut, OR rise)']
    """
    entries, entry, depth, quoted = [], "", 0, False
    for character in text.translate(_STRAIGHT):
        quoted ^= character == '"'
        depth = max(0, depth + (character == "(") - (character == ")")) if not quoted else depth
        if character in separators and not quoted and not depth:
            entries.append(entry)
            entry = ""
        else:
            entry += character
    found = (" ".join(entry.split()) for entry in (*entries, entry))
    return [entry for entry in found if entry]


def written(condition: Condition) -> str:
    """The condition as people type it.

    >>> written(Either((SearchTerm(("a", "b")), All((SearchTerm(("c",)),), (SearchTerm(("d",)),)))))
    'a b OR (c -d)'
    """
    if isinstance(condition, SearchTerm):
        if condition.in_order and len(condition.words) > 1:
            return f'"{" ".join(condition.words)}"'
        return " ".join(f'"{word}"' if _LITERAL.search(word) else word for word in condition.words)
    parts = [written(part) if isinstance(part, SearchTerm) else f"({written(part)})" for part in condition.parts]
    if isinstance(condition, Either):
        return " OR ".join(parts)
    return " ".join([" AND ".join(parts), *(f"-{_unit(part)}" for part in condition.without)])


def _unit(condition: Condition, *, loose: bool = False) -> str:
    """The condition as a minus sign may stand before it; `loose` words of a phrase need no parentheses."""
    if isinstance(condition, SearchTerm) and (loose or condition.in_order or len(condition.words) == 1):
        return written(condition)
    return f"({written(condition)})"


def _words(condition: Condition) -> Iterator[str]:
    if isinstance(condition, SearchTerm):
        yield from condition.words
    else:
        for part in condition.parts:
            yield from _words(part)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """quoted, word, operator, (, ), - or end."""
    text: str
    start: int


class _Parser:
    """Reads one query from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [*_tokens(text), _Token("end", "", len(text))]
        self.at = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def query(self) -> Query:
        excludes = self._takes_not()
        condition = self._either(depth=0, excluding=excludes)
        if self.token.kind == ")":
            self._refuse("a parenthesis is closed that was never opened; take out the )", self.token)
        return Query(condition, excludes)

    def _either(self, depth: int, *, excluding: bool = False) -> Condition:
        parts = [self._all(depth, excluding)]
        while self.token.text == "OR" and self.token.kind == "operator":
            self.at += 1
            parts.append(self._all(depth, excluding))
        distinct = tuple(dict.fromkeys(_flat(parts, Either)))
        return distinct[0] if len(distinct) == 1 else Either(distinct)

    def _all(self, depth: int, excluding: bool) -> Condition:
        parts: list[Condition] = []
        without: list[Condition] = []
        words: list[str] = []  # of the phrase that is being read
        first, joined = self.token, None

        def end_phrase() -> None:
            if words:
                parts.append(SearchTerm(tuple(words)))
                words.clear()

        while True:
            token = self.token
            if token.kind == "operator" and token.text == "AND":
                if token is first or joined is not None:
                    self._refuse("AND stands between two words; write one before it and one after it", token)
                end_phrase()
                self.at += 1
                joined = token
            elif token.kind == "-" or (token.text == "NOT" and token.kind == "operator"):
                if excluding:
                    self._refuse("an exclusion holds no second one; write a comma between the two", token)
                end_phrase()
                self._takes_not()
                without.append(self._item(depth))
                joined = None
            elif token.kind == "word":
                words.append(token.text)
                self.at += 1
                joined = None
            elif token.kind in ("quoted", "("):
                end_phrase()
                parts.append(self._item(depth))
                joined = None
            else:
                break
        end_phrase()
        if joined is not None:
            self._refuse("AND stands between two words; write one before it and one after it", joined)
        if self.token.kind == ")" and not depth:
            self._refuse("a parenthesis is closed that was never opened; take out the )", self.token)
        if not parts and without:
            self._refuse("only words to leave out stand here; write a word that posts must have, too", first)
        if not parts:
            self._refuse(self._nothing(), self.token)
        distinct = tuple(dict.fromkeys(_flat(parts, All)))
        return distinct[0] if len(distinct) == 1 and not without else All(distinct, tuple(dict.fromkeys(without)))

    def _item(self, depth: int) -> Condition:
        """A word, a phrase in quotes or a group in parentheses."""
        token = self.token
        self.at += 1
        if token.kind == "word":
            return SearchTerm((token.text,))
        if token.kind == "quoted":
            return self._quoted(token)
        if token.kind != "(":
            self._refuse("a word to leave out is missing; write it directly behind the sign", self.tokens[self.at - 2])
        condition = self._either(depth + 1)
        if self.token.kind != ")":
            self._refuse("a parenthesis is not closed; add a )", token)
        self.at += 1
        return condition

    def _quoted(self, token: _Token) -> SearchTerm:
        if len(token.text) == 1 or not token.text.endswith('"'):
            self._refuse('a quotation mark is not closed; add a "', token)
        words = tuple(token.text[1:-1].split())
        if not words:
            self._refuse("nothing stands between the quotation marks; write a phrase, or take them out", token)
        return SearchTerm(words, in_order=len(words) > 1)

    def _takes_not(self) -> bool:
        """Whether a minus sign or NOT stands here; moves behind it."""
        token = self.token
        if token.kind == "-":
            behind = self.text[token.start + 1 : token.start + 2]
            if not behind or behind.isspace():
                self._refuse('a minus sign stands alone; write it directly before a word, or in quotes as "-"', token)
        elif not (token.kind == "operator" and token.text == "NOT"):
            return False
        self.at += 1
        return True

    def _nothing(self) -> str:
        """What is wrong where a word should stand."""
        token = self.token
        if token.kind == "operator":
            return (
                f'{token.text} stands between two words; write one before it, or "{token.text}" in quotes for the word'
            )
        if token.kind == ")":
            return "nothing stands in the parentheses; write words between them, or take them out"
        return "a word is missing at the end; write one, or take out what stands before"

    def _refuse(self, why: str, token: _Token) -> NoReturn:
        raise QueryError(why, visible(self.text), token.start)


def _tokens(text: str) -> Iterator[_Token]:
    """The words and signs of a query. A minus sign is one only where a word begins."""
    at = 0
    while (found := _TOKEN.match(text, at)) is not None:
        kind = found.lastgroup or ""
        start, value = found.start(kind), found[kind]
        at = found.end()
        if kind == "sign":
            kind = "-" if value in _MINUS else value
        elif value in _OPERATORS:
            kind = "operator"
        yield _Token(kind, value, start)


def _flat(parts: list[Condition], kind: type[All] | type[Either]) -> Iterator[Condition]:
    """The parts, where those of the same kind give their own: a AND (b AND c) is a AND b AND c."""
    for part in parts:
        if isinstance(part, kind) and not (isinstance(part, All) and part.without):
            yield from part.parts
        else:
            yield part


def _error_of(text: str) -> str:
    """What is said about a query that is wrong."""
    try:
        parse_query(text)
    except QueryError as error:
        return str(error)
    return ""
