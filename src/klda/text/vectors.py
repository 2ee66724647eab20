"""The meaning of words as static vectors, which come with a package; nothing is downloaded.

The vectors are those of the package `wordllama`. Only its two data files are read. They know English words of
the years up to 2024. A replay of older posts with vectors therefore knows a little of its future.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from klda.text.documents import offsets

Floats = NDArray[np.float32]

LANGUAGES = frozenset({"en"})
"""Languages whose words the vectors tell apart."""


class _Model(NamedTuple):
    tokenizer: Any
    table: Floats  # (pieces, dimensions)
    usual: Floats  # (dimensions,)  what all words have in common


def word_vectors(texts: Sequence[str], language: str = "en") -> Floats | None:
    """A vector of length 1 for each word or phrase; None without the package or for other languages. # (n, dimensions)

    A hashtag means what its word means. A text without a known piece gets zeros.

    >>> found = word_vectors(["ballots", "voters", "banana"])
    >>> bool(found is None or found[0] @ found[1] > found[0] @ found[2])
    True
    """
    model = _model() if language in LANGUAGES else None
    if model is None:
        return None
    words = [text.replace("_", " ").split() for text in texts]
    place = {word: i for i, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    pieces = model.tokenizer.encode_batch([word.lstrip("#$@") for word in place], add_special_tokens=False)
    of_word = _counts([piece.ids for piece in pieces], len(model.table))  # (words, pieces)
    of_text = _counts([[place[word] for word in row] for row in words], len(place)) @ of_word  # (n, pieces)
    n = np.asarray(of_text.sum(axis=1))[:, None]
    found = of_text @ model.table / np.maximum(n, 1) - model.usual * (n > 0)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(np.divide(found, length, out=found, where=length > 0))


def _counts(rows: Sequence[Sequence[int]], width: int) -> csr_array:
    """How often each row names each column."""
    n = offsets(np.array([len(row) for row in rows], dtype=np.int64))
    ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(n[-1]))
    return csr_array((np.ones(len(ids), dtype=np.float32), ids, n), shape=(len(rows), width))


@cache
def _model() -> _Model | None:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        return None
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = Path(spec.origin).parent
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    (table,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    table = np.asarray(table, dtype=np.float32)
    return _Model(tokenizer, table, table.mean(axis=0))
