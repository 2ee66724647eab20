"""What words mean: static vectors, trained elsewhere, that come with a package and never from the network.

The vectors are those of the package `wordllama`. Only its two data files are read. They know English, and they know
words of the years up to 2024: a replay of older posts that uses them knows a little of its future.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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
    pieces = model.tokenizer.encode_batch([t.lstrip("#$@").replace("_", " ") for t in texts], add_special_tokens=False)
    n_pieces = np.array([len(piece.ids) for piece in pieces], dtype=np.int64)
    ids = np.fromiter((each for piece in pieces for each in piece.ids), dtype=np.int64, count=int(n_pieces.sum()))
    share = np.repeat(1 / np.maximum(n_pieces, 1), n_pieces).astype(np.float32)
    shape = (len(texts), len(model.table))
    found = csr_array((share, ids, np.concatenate([[0], np.cumsum(n_pieces)])), shape=shape) @ model.table
    found[n_pieces > 0] -= model.usual
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(np.divide(found, length, out=found, where=length > 0))


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
