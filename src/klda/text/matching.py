"""What "this post matches this keyword" means, for every part of the program.

A keyword matches when one of its forms does. A form is words, or a query of words with AND, OR and NOT (`klda.query`).
Several words of a form have to occur in any order, or side by side and in order: in quotes, or for the whole list when
asked. A post that meets an exclusion of the list matches no keyword of it.

Both sides are normalised as the tokeniser does. A word occurs where its characters stand between two boundaries: `drug`
is found in "drug-free", "#drug", "@drug" and "a.com/drug?x", and not in "drugs". `#drug` is found only with its sigil.
Scripts that are written without spaces have a boundary everywhere. These are the rules of streaming filters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from klda.errors import SettingError
from klda.query import All, Condition, Either, SearchTerm
from klda.text.documents import Ints, Ragged, distinct, offsets, sums
from klda.text.occurrence import WordFinder, side_by_side
from klda.text.tokens import Pieces, chained, cut, normalise
from klda.text.vocabulary import Vocabulary
from klda.types import Keyword, KeywordSet

CHUNK = 32_768
"""Texts matched at a time."""
_FAR = 1 << 62


class Matcher:
    """Finds the keywords that texts carry; the time hardly depends on how many keywords there are.

    >>> matcher = Matcher(KeywordSet.of("computer virus", "#Mask", "drug"))
    >>> matcher.match("A virus in my COMPUTER! No mask, no drugs."), matcher.match("drug-free #mask")
    ([0], [1, 2])
    >>> matcher = Matcher(KeywordSet.of("apple AND (iphone OR ios)", "fruit", "-pie"))
    >>> matcher.match("An Apple iPhone"), matcher.match("fruit, apple"), matcher.match("apple ios fruit pie")
    ([0], [1], [])
    """

    def __init__(self, keywords: KeywordSet, *, adjacent: bool = False) -> None:
        self.keywords = keywords
        self.adjacent = adjacent
        gates = _Gates(adjacent)
        tops = [(gates.node(q.condition, k), column) for column, k in enumerate(keywords) for q in k.queries]
        words = tuple(gates.words)
        n_nodes, n_columns = len(words) + len(gates.made), len(keywords)
        self._finder = WordFinder(words)
        self._columns = _edges(tops, n_nodes, n_columns)
        parts = {part for gate in gates.made for part in gate.parts if part >= 0}
        alone = [(node, column) for node, column in tops if node >= 0]
        # what a word is good for: the columns that it matches alone, and behind them itself as a part of a gate
        self._uses = _edges([*alone, *((part, n_columns + part) for part in parts)], len(words), n_columns + n_nodes)
        # pairs of a text and a column, and far behind them those of a text and a node, as numbers that ascend
        self._scale = np.repeat([n_columns, n_nodes], [n_columns, n_nodes])
        self._shift = np.concatenate([np.arange(n_columns), _FAR + np.arange(n_nodes)])
        asked = [(gates.words[word], column) for column, k in enumerate(keywords) for word in gates.asked[k]]
        self._asked = _edges(asked, len(words), n_columns)
        self._excludes = np.array([keyword.excludes for keyword in keywords], dtype=np.bool_)
        self._levels = gates.levels()

    def match(self, text: str) -> list[int]:
        """The columns of the keywords that a text carries, ascending."""
        found: list[int] = self.match_many([text]).values.tolist()
        return found

    def match_many(self, texts: Sequence[str]) -> Ragged:
        """The columns of the keywords that each text carries, ascending."""
        return Ragged.joined([self.match_pieces(cut(texts[i : i + CHUNK])) for i in range(0, len(texts), CHUNK)])

    def match_pieces(self, pieces: Pieces) -> Ragged:
        """As `match_many`, for texts that have been cut already."""
        found = chained(pieces.texts, chained(self._finder.find(pieces.distinct), self._uses))
        n_texts, n_columns = len(pieces.texts), len(self.keywords)
        if self._levels:
            pairs = distinct(found.rows * self._scale[found.values] + self._shift[found.values])[0]
            known, words = np.split(pairs, [np.searchsorted(pairs, _FAR)])
            more = self._through_gates(pieces, words - _FAR)
            more = more[~_within(more, known)]
            known = np.insert(known, np.searchsorted(known, more), more)
        else:
            known = distinct(found.rows * n_columns + found.values)[0]
        rows, columns = np.divmod(known, max(1, n_columns))
        if self._excludes.any():
            refused = np.zeros(n_texts, dtype=np.bool_)
            refused[rows[self._excludes[columns]]] = True
            left = ~refused[rows]
            rows, columns = rows[left], columns[left]
        return Ragged(offsets(np.bincount(rows, minlength=n_texts)), columns.astype(np.int32))

    def _through_gates(self, pieces: Pieces, met: Ints) -> Ints:
        """From the words that texts have to the columns of keywords whose condition has several words.

        A pair of a text and a node, or of a text and a column, is one number; all are distinct and ascending.
        """
        n_nodes = len(self._columns)
        gates = met[:0]
        for level in self._levels:
            triggers, others = level.triggers(met)
            pairs = distinct(_through(met, triggers))[0]
            pairs = pairs[level.is_met(pairs, met, others)]
            pairs = pairs[level.is_in_order(pairs, pieces)]
            gates = np.concatenate([gates, pairs])
            met = np.sort(np.concatenate([met, pairs])) if level is not self._levels[-1] else met
        columns = self._columns.take(gates % n_nodes)
        return distinct(np.repeat(gates // n_nodes, columns.lengths) * len(self.keywords) + columns.values)[0]

    def words_of(self, vocabulary: Vocabulary) -> Ragged:
        """The vocabulary's words that each keyword asks for: those with a surface form in which one of them occurs.

        >>> words = Vocabulary.of({"mask": {"masks": 5, "mask": 4}, "#mask": {"#mask": 3}, "virus": {"virus": 2}})
        >>> Matcher(KeywordSet.of("mask", "#mask", "virus masks")).words_of(words).lists()
        [[1, 2], [2], [1, 3]]
        """
        surface = pl.Series([form for forms in vocabulary.forms for form in forms], dtype=pl.String)
        owner = np.repeat(np.arange(len(vocabulary)), [len(forms) for forms in vocabulary.forms])
        found = chained(self._finder.find(surface), self._asked)
        return _grouped(found.values, owner[found.rows], len(self.keywords), len(vocabulary))


def narrowed(keyword: Keyword, words: KeywordSet, pieces: Pieces, *, adjacent: bool = False) -> tuple[Ints, Ragged]:
    """The texts that a keyword matches, and for each of the words those of them that match it too.

    With AND and a word, the keyword brings the texts of that word; without the word, it brings its other texts. All
    words are looked up in one pass.

    >>> texts = cut(["apple pie", "apple ios", "apple", "ios"])
    >>> rows, with_word = narrowed(Keyword("apple"), KeywordSet.of("pie", "ios"), texts)
    >>> rows.tolist(), with_word.lists()
    ([0, 1, 2], [[0], [1]])
    """
    found = Matcher(KeywordSet((keyword, *words)), adjacent=adjacent).match_pieces(pieces)
    rows = found.rows
    is_matched = np.zeros(len(found), dtype=np.bool_)
    is_matched[rows[found.values == 0]] = True
    inside = is_matched[rows] & (found.values > 0)
    return np.flatnonzero(is_matched), _grouped(found.values[inside] - 1, rows[inside], len(words), len(found))


@dataclass(frozen=True, slots=True)
class _Gate:
    """A condition on a text: of each clause it has at least one node, and it has none of `without`.

    A node is a word by its number, or another gate by its number counted from the end: -1 is the first.
    """

    clauses: tuple[tuple[int, ...], ...]
    without: tuple[int, ...] = ()
    in_order: tuple[str, ...] = ()
    """Words that also have to stand side by side."""

    @property
    def parts(self) -> tuple[int, ...]:
        """All nodes that it is made of."""
        return (*chain.from_iterable(self.clauses), *self.without)


@dataclass(frozen=True)
class _Level:
    """Gates whose parts are words, or gates of lower levels."""

    clauses: Ragged  # (nodes,)  the clauses of each gate
    nodes: Ragged  # (clauses,)  the nodes of each clause
    without: Ragged  # (nodes,)
    ordered: dict[int, tuple[str, ...]]
    """The words of gates whose words also have to stand side by side."""
    is_ordered: NDArray[np.bool_]  # (nodes,)  whether a gate is among them

    def triggers(self, met: Ints) -> tuple[Ragged, Ragged]:
        """For each node the gates that are looked at when a text has it, and for each gate the clauses left to check.

        Of each gate, only texts with a node of its rarest clause are looked at.
        """
        n_nodes = len(self.clauses)
        often = sums(np.bincount(met % n_nodes, minlength=n_nodes)[self.nodes.values], self.nodes.indptr)
        gates, clauses = self.clauses.rows, self.clauses.values
        order = np.lexsort((often[clauses], gates))
        is_rarest = np.diff(gates[order], prepend=-1) > 0
        rarest, rest = order[is_rarest], order[~is_rarest]
        chosen = self.nodes.take(clauses[rarest].astype(np.int64))
        triggers = _grouped(chosen.values, gates[rarest][chosen.rows], n_nodes, n_nodes)
        return triggers, _grouped(gates[rest], clauses[rest], n_nodes, len(self.nodes))

    def is_met(self, pairs: Ints, met: Ints, others: Ragged) -> NDArray[np.bool_]:
        """Whether each text meets the other clauses of its gate, and has nothing that the gate leaves out."""
        rows, gates = np.divmod(pairs, len(self.clauses))
        clauses = others.take(gates)
        of_pair = clauses.rows
        each = self._has_one(met, rows[of_pair], self.nodes.take(clauses.values.astype(np.int64)))
        missing = np.bincount(of_pair[~each], minlength=len(pairs))
        return np.asarray((missing == 0) & ~self._has_one(met, rows, self.without.take(gates)))

    def _has_one(self, met: Ints, rows: Ints, lists: Ragged) -> NDArray[np.bool_]:
        """Whether each text has a node of its list."""
        of_list = lists.rows
        has = _within(rows[of_list] * len(self.clauses) + lists.values, met)
        return np.asarray(np.bincount(of_list[has], minlength=len(lists)) > 0)

    def is_in_order(self, pairs: Ints, pieces: Pieces) -> NDArray[np.bool_]:
        """Whether the words of each gate stand side by side in the text, where they have to."""
        rows, gates = np.divmod(pairs, len(self.clauses))
        found = np.ones(len(pairs), dtype=np.bool_)
        for at in np.flatnonzero(self.is_ordered[gates]).tolist():
            found[at] = side_by_side(self.ordered[int(gates[at])], pieces.text(int(rows[at])))
        return found


@dataclass
class _Gates:
    """The words and gates that conditions are made of; equal ones are shared."""

    adjacent: bool
    words: dict[str, int] = field(default_factory=dict)
    made: dict[_Gate, int] = field(default_factory=dict)
    asked: dict[Keyword, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    """The words that each keyword asks a post for."""

    def node(self, condition: Condition, keyword: Keyword, *, wanted: bool = True) -> int:
        """The word or the gate of a condition of a keyword."""
        clauses = tuple(dict.fromkeys(self._clauses(condition, keyword, wanted)))
        without = condition.without if isinstance(condition, All) else ()
        nodes = tuple(dict.fromkeys(n for part in without for n in self._nodes(part, keyword, wanted=False)))
        if len(clauses) == 1 == len(clauses[0]) and not nodes:
            return clauses[0][0]
        return self._gate(_Gate(clauses, nodes))

    def _clauses(self, condition: Condition, keyword: Keyword, wanted: bool) -> Iterator[tuple[int, ...]]:
        """Of each of these groups a text must have one node; what the condition leaves out is not among them."""
        if isinstance(condition, SearchTerm):
            yield from self._phrase(condition, keyword, wanted and not keyword.excludes)
        elif isinstance(condition, Either):
            yield self._nodes(condition, keyword, wanted=wanted)
        else:
            for part in condition.parts:
                if isinstance(part, All):
                    yield (self.node(part, keyword, wanted=wanted),)
                else:
                    yield from self._clauses(part, keyword, wanted)

    def _nodes(self, condition: Condition, keyword: Keyword, *, wanted: bool) -> tuple[int, ...]:
        """Nodes of which a text must have one."""
        parts = condition.parts if isinstance(condition, Either) else (condition,)
        return tuple(dict.fromkeys(self.node(part, keyword, wanted=wanted) for part in parts))

    def _phrase(self, phrase: SearchTerm, keyword: Keyword, wanted: bool) -> list[tuple[int, ...]]:
        form = " ".join(phrase.words)
        words = tuple(normalise(form).split())
        if not set("".join(words)) - set("#@"):
            raise SettingError(f"keyword {keyword.text!r}: its form {form!r} has nothing to match")
        self.asked[keyword].update(dict.fromkeys(words if wanted else ()))
        each: list[tuple[int, ...]] = [(self.words.setdefault(word, len(self.words)),) for word in words]
        if len(words) > 1 and (phrase.in_order or self.adjacent):
            return [(self._gate(_Gate(tuple(dict.fromkeys(each)), in_order=words)),)]
        return each

    def _gate(self, gate: _Gate) -> int:
        return -1 - self.made.setdefault(gate, len(self.made))

    def levels(self) -> list[_Level]:
        """The gates by level, the lowest first."""
        n_nodes = len(self.words) + len(self.made)
        of_level: dict[int, list[tuple[int, _Gate]]] = defaultdict(list)
        level_of: dict[int, int] = {}
        for gate, number in self.made.items():  # parts were made before what they are parts of
            node = -1 - number
            level_of[node] = 1 + max(level_of.get(part, 0) for part in gate.parts)
            of_level[level_of[node]].append((node, gate))
        levels = []
        for _, gates in sorted(of_level.items()):
            clauses = [(node, clause) for node, gate in gates for clause in gate.clauses]
            of_gate = _edges([(node, i) for i, (node, _) in enumerate(clauses)], n_nodes, len(clauses))
            nodes = _edges([(i, n) for i, (_, clause) in enumerate(clauses) for n in clause], len(clauses), n_nodes)
            without = _edges([(node, part) for node, gate in gates for part in gate.without], n_nodes, n_nodes)
            ordered = {node % n_nodes: gate.in_order for node, gate in gates if gate.in_order}
            levels.append(_Level(of_gate, nodes, without, ordered, np.isin(np.arange(n_nodes), list(ordered))))
        return levels


def _edges(pairs: Sequence[tuple[int, int]], n_rows: int, n_values: int) -> Ragged:
    """The second numbers of the pairs for each first number; negative ones count from the end."""
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _grouped(both[:, 0] % max(1, n_rows), both[:, 1] % max(1, n_values), n_rows, n_values)


def _through(met: Ints, edges: Ragged) -> Ints:
    """From pairs of a text and a node to those of the text and the nodes behind it, each pair as one number."""
    n_nodes, leads = len(edges), edges.lengths > 0
    met = met[leads[met % n_nodes]]
    lists = edges.take(met % n_nodes)
    return np.asarray(np.repeat(met - met % n_nodes, lists.lengths) + lists.values, dtype=np.int64)


def _within(numbers: Ints, known: Ints) -> NDArray[np.bool_]:
    """Whether each number is among the known ones, which ascend."""
    if not len(known):
        return np.zeros(len(numbers), dtype=np.bool_)
    return np.asarray(known[np.minimum(np.searchsorted(known, numbers), len(known) - 1)] == numbers)


def _grouped(rows: NDArray[Any], values: NDArray[Any], n_rows: int, n_values: int) -> Ragged:
    """The distinct values of each row, ascending."""
    width = max(1, n_values)
    rows, values = np.divmod(distinct(rows.astype(np.int64) * width + values)[0], width)
    return Ragged(offsets(np.bincount(rows, minlength=n_rows)), values.astype(np.int32))
