"""Copies of one text among many: the same words with another address, another mention, a word changed here or there.

Texts are compared without what varies from copy to copy (case, web addresses, mentions, digits, punctuation, emoji) by
the runs of five characters that they have in common, in any language, spaced or not. Not every pair is compared: a text
that holds a share s of the posts is among `CENTRES` of them drawn at random, but for a chance of (1 - s) ** CENTRES.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from klda.text.tokens import normalise

ALIKE = 0.5
"""Texts that share this much of their runs of characters (Jaccard) are copies. One word in eight may be another."""
RUN = 5
CENTRES = 64
"""Posts with which all are compared: a text in a fifth of the posts is missed once in a million times."""

_NAMES = re.compile(r"https?://\S+|www\.\S+|@[\w.@-]+")
_NO_LETTERS = re.compile(r"[\W\d_]+")


def most_copies(texts: Sequence[str], generator: np.random.Generator) -> int:
    """How many of the texts are copies of the one that has the most, itself included.

    >>> texts = ["Buy REDLUNG drops now!", "buy redlung drops now https://a.example/7 @ann", "the ward has redlung"]
    >>> most_copies(texts, np.random.default_rng(0))
    2
    """
    if not texts:
        return 0
    cores = Counter(core(text) for text in texts)
    distinct, times = list(cores), np.array(list(cores.values()))
    runs = _runs(distinct)  # (distinct texts, runs)
    sizes = np.asarray(runs.sum(axis=1))
    centres = np.unique(generator.choice(len(distinct), CENTRES, p=times / times.sum()))
    shared = (runs @ runs[centres].T).toarray()  # (distinct texts, centres)
    alike = shared >= ALIKE * (sizes[:, None] + sizes[centres] - shared)
    return int((times @ alike).max())


def core(text: str) -> str:
    """What copies of a text have in common; a text of nothing else stays as it is.

    >>> core("RT @ann: Red lung is back… 3 WARDS closed https://example.org/9 😷")
    'red lung is back wards closed'
    """
    plain = normalise(text)
    return _NO_LETTERS.sub(" ", _NAMES.sub(" ", plain)).strip().removeprefix("rt ") or plain


def _runs(texts: Sequence[str]) -> csr_array:
    """Which runs of characters each text has. # (D, runs)"""
    numbers: dict[str, int] = {}
    rows = [
        [numbers.setdefault(run, len(numbers)) for run in {t[at : at + RUN] for at in range(max(1, len(t) - RUN + 1))}]
        for t in texts
    ]
    columns = np.fromiter((number for row in rows for number in row), dtype=np.int64)
    ends = np.cumsum([0, *map(len, rows)])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(texts), len(numbers)))
