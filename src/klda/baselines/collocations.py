"""Collocations: two words that stand side by side far more often than chance would have it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from klda.errors import SettingError
from klda.text.documents import distinct
from klda.text.encoding import Numbers
from klda.text.text_settings import TextSettings
from klda.text.tokens import cut, tokens_of
from klda.types import Keyword

Floats = NDArray[np.float64]

_CHUNK = 65_536


@dataclass(frozen=True)
class Phrase:
    """Two words as people write them, how often they stand together, and how much they belong together (NPMI)."""

    text: str
    count: int
    npmi: float
    """Normalised pointwise mutual information: 0 by chance, 1 when neither word occurs without the other."""

    @property
    def keyword(self) -> Keyword:
        """The phrase as a candidate keyword."""
        return Keyword(self.text)


def find_phrases(
    texts: Iterable[str], *, min_count: int = 20, min_npmi: float = 0.3, settings: TextSettings | None = None
) -> list[Phrase]:
    """The collocations of these texts, the tightest first; hashtags, mentions, emoji and stop words take no part.

    >>> texts = ["a computer virus", "computer virus found", "a flu virus", "my computer", "flu season"] * 5
    >>> [(phrase.text, phrase.count) for phrase in find_phrases(texts, min_count=5)]
    [('flu season', 5), ('computer virus', 10), ('virus found', 5), ('flu virus', 5)]
    """
    if min_count < 1 or not -1 <= min_npmi <= 1:
        raise SettingError(f"min_count ({min_count}) must be at least 1, min_npmi ({min_npmi}) between -1 and 1")
    settings = settings or TextSettings()
    number = Numbers()
    singles, pairs, pair_counts = [], [], []
    n_pairs = 0
    iterator = iter(texts)
    while chunk := list(islice(iterator, _CHUNK)):
        tokens = tokens_of(cut(chunk))
        numbers = number.of(tokens.distinct.to_list()).astype(np.int64)
        usable = (settings.keeps(tokens.distinct) & tokens.distinct.str.contains(r"^\w")).to_numpy()
        values, rows = tokens.texts.values, tokens.texts.rows
        singles.append(np.bincount(numbers[values]))
        side_by_side = rows[1:] == rows[:-1]
        n_pairs += int(side_by_side.sum())
        left, right = values[:-1][side_by_side], values[1:][side_by_side]
        counted = usable[left] & usable[right] & (left != right)
        keys, counts = distinct(numbers[left[counted]] << 32 | numbers[right[counted]])
        pairs.append(keys)
        pair_counts.append(counts)
    if not n_pairs:
        return []
    count = np.sum([np.pad(counts, (0, len(number) - len(counts))) for counts in singles], axis=0)
    keys, which = np.unique(np.concatenate(pairs), return_inverse=True)
    together = np.bincount(which, weights=np.concatenate(pair_counts))
    frequent = together >= min_count
    keys, together = keys[frequent], together[frequent]
    rate: Floats = count / np.sum(count)
    npmi = _npmi(together / n_pairs, rate[keys >> 32], rate[keys & 0xFFFFFFFF])
    forms = list(number)
    found = [
        Phrase(f"{forms[key >> 32]} {forms[key & 0xFFFFFFFF]}", int(n), score)
        for key, n, score in zip(keys.tolist(), together, npmi.tolist(), strict=True)
        if score >= min_npmi
    ]
    return sorted(found, key=lambda phrase: (-phrase.npmi, -phrase.count, phrase.text))


def _npmi(both: Floats, left: Floats, right: Floats) -> Floats:
    """Normalised pointwise mutual information of pairs of words, from their rates."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(both < 1, np.log(both / (left * right)) / -np.log(both), 1.0)
