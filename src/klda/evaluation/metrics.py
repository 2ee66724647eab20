"""Accuracy and coverage of proposed keywords, exactly as the paper defines them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

Lists = Mapping[str, Sequence[str]]
"""For each current keyword the words that extend it, the best first."""


@dataclass(frozen=True)
class Agreement:
    """How well proposed words and true ones agree; NaN where one of the two is empty."""

    accuracy: float
    """Share of the proposed words that are true."""
    coverage: float
    """Share of the true words that are proposed."""


def agreement(proposed: Iterable[str], true: Iterable[str], *, equivalent: Sequence[Iterable[str]] = ()) -> Agreement:
    """Accuracy and coverage of one list of words against another; each word counts once.

    `equivalent` names groups of words that count as the same.

    >>> agreement(["racing", "kentucky"], ["racing", "sex"])
    Agreement(accuracy=0.5, coverage=0.5)
    >>> agreement(["player"], ["playing"], equivalent=[("player", "playing")]).accuracy
    1.0
    """
    same = {word: min(group) for group in map(tuple, equivalent) for word in group}
    predicted = list(dict.fromkeys(proposed))
    truth = list(dict.fromkeys(true))
    hits = {same.get(word, word) for word in predicted} & {same.get(word, word) for word in truth}
    accurate = sum(same.get(word, word) in hits for word in predicted)
    covered = sum(same.get(word, word) in hits for word in truth)
    return Agreement(
        accuracy=accurate / len(predicted) if predicted else nan,
        coverage=covered / len(truth) if truth else nan,
    )


def keyword_level(proposed: Lists, true: Lists, *, equivalent: Sequence[Iterable[str]] = ()) -> dict[str, Agreement]:
    """The agreement for each current keyword that has a truth (Table 5 of the paper)."""
    return {
        keyword: agreement(proposed.get(keyword, ()), words, equivalent=equivalent)
        for keyword, words in true.items()
        if words
    }


def set_level(proposed: Lists | Sequence[str], true: Lists, *, equivalent: Sequence[Iterable[str]] = ()) -> Agreement:
    """The agreement of the unions over current keywords (Table 6 of the paper).

    Current keywords without a truth are left out on both sides. A policy that proposes one list for the whole set
    gives a plain sequence instead of lists.

    >>> set_level({"stream": ["map"], "game": ["playing", "tonight"]}, {"stream": [], "game": ["playing", "fun"]})
    Agreement(accuracy=0.5, coverage=0.5)
    """
    truth = [word for words in true.values() for word in words]
    if isinstance(proposed, Mapping):
        words = [word for keyword, found in proposed.items() if true.get(keyword) for word in found]
    else:
        words = list(proposed)
    return agreement(words, truth, equivalent=equivalent)


def skill(policy: float, random: float, ceiling: float) -> float:
    """Where a policy stands between chance (0) and the truth's agreement with itself (1).

    >>> round(skill(policy=0.36, random=0.20, ceiling=0.45), 2)
    0.64
    """
    return (policy - random) / (ceiling - random) if ceiling > random else nan
