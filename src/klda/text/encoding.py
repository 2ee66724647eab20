"""Texts to numbers: the words of each text and the keywords it carries, many texts at a time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from klda.text.documents import Documents, Ints, Ragged, Words, distinct, offsets
from klda.text.languages import segmented
from klda.text.matching import Matcher
from klda.text.recipe import Recipe
from klda.text.text_settings import TextSettings
from klda.text.tokens import cut, tokens_of
from klda.text.vocabulary import Vocabulary

Forms = dict[str, dict[str, int]]
"""How often each form of each stem occurs."""


class Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number

    def of(self, strings: list[str]) -> Words:
        """The number of each string."""
        return np.fromiter(map(self.__getitem__, strings), dtype=np.int32, count=len(strings))


@dataclass(frozen=True)
class EncodedTexts:
    """The surface forms of many texts, each distinct one once, and the keywords that each text carries."""

    forms: list[str]
    texts: Ragged  # the forms of each text
    observed: Ragged  # columns of the keywords of each text, ascending


def encode(texts: pa.Array, matcher: Matcher, settings: TextSettings) -> EncodedTexts:
    """These texts as numbers.

    >>> from klda.types import KeywordSet
    >>> found = encode(pa.array(["Wear a mask", "Masks!"]), Matcher(KeywordSet.of("mask")), TextSettings())
    >>> found.forms, found.texts.lists(), found.observed.lists()
    (['wear', 'mask', 'masks'], [[0, 1], [2]], [[0], []])
    """
    pieces = cut(texts)
    tokens = segmented(tokens_of(pieces), settings.language)
    kept = settings.keeps(tokens.distinct)
    number = np.where(kept.to_numpy(), np.cumsum(kept.to_numpy()) - 1, -1).astype(np.int32)
    numbers = number[tokens.texts.values]
    is_kept = numbers >= 0
    indptr = offsets(is_kept)[tokens.texts.indptr]
    return EncodedTexts(
        tokens.distinct.filter(kept).to_list(), Ragged(indptr, numbers[is_kept]), matcher.match_pieces(pieces)
    )


def encode_all(
    chunks: Iterable[pa.Array], matcher: Matcher, settings: TextSettings, workers: int | None
) -> Iterator[EncodedTexts]:
    """Each chunk encoded, in order. Threads help, because most work is outside the interpreter."""
    n_threads = workers or min(4, os.cpu_count() or 1)
    if n_threads == 1:
        for chunk in chunks:
            yield encode(chunk, matcher, settings)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[EncodedTexts]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(encode, chunk, matcher, settings))
            if len(waiting) > n_threads:  # hold no more chunks than are being encoded
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def count_words(words: Ragged, n_words: int) -> tuple[Ints, Words, Words]:
    """Offsets, distinct words in ascending order and their counts: the lists as rows of a sparse matrix.

    >>> [part.tolist() for part in count_words(Ragged.of([[2, 1, 2], [], [1]]), 3)]
    [[0, 2, 2, 3], [1, 2, 1], [1, 2, 1]]
    """
    keys, counts = distinct(words.rows * n_words + words.values)
    rows, numbers = np.divmod(keys, n_words)
    indptr = offsets(np.bincount(rows, minlength=len(words)))
    return indptr, numbers.astype(np.int32), counts.astype(np.int32)


def documents_of(words: Iterable[Ragged], n_words: int, time: Ints, window: Words) -> Documents:
    """One document for each post, in the order of posts, from the words of each chunk of them."""
    parts = [count_words(chunk, n_words) for chunk in words]
    lengths = np.concatenate([np.diff(indptr) for indptr, _, _ in parts])
    return Documents(
        offsets(lengths),
        np.concatenate([numbers for _, numbers, _ in parts]),
        np.concatenate([counts for _, _, counts in parts]),
        time,
        window,
        np.arange(len(time), dtype=np.int64),
    )


def count_forms(forms: list[str], encoded: list[Ragged], settings: TextSettings) -> tuple[list[str], Forms]:
    """The stem of each form, and how often each form of each stem occurs."""
    counts = np.zeros(len(forms), dtype=np.int64)
    for chunk in encoded:
        counts += np.bincount(chunk.values, minlength=len(forms))
    stems = settings.stems(forms)
    found: Forms = {}
    for stem, form, count in zip(stems, forms, counts.tolist(), strict=True):
        found.setdefault(stem, {})[form] = count
    return stems, found


def known_and_frequent(found: Forms, recipe: Recipe) -> Vocabulary:
    """The frequent words, the most frequent first. Words known before come first."""
    known = recipe.vocabulary
    if known is not None and not recipe.extend_vocabulary:
        return known
    totals = {stem: sum(forms.values()) for stem, forms in found.items()}
    least = recipe.settings.min_count
    frequent = [stem for stem, total in totals.items() if total >= least or (known and stem in known)]
    frequent.sort(key=lambda stem: (-totals[stem], stem))
    forms = {stem: found[stem] for stem in frequent}
    return Vocabulary.of(forms, recipe.settings.language) if known is None else known.extend(forms)
