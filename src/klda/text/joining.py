"""Several corpora as one, in the order of time: its arrays lie in a file without a name, which goes when they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from klda.posts.schema import PostTable
from klda.posts.temp_arrays import nameless
from klda.text.corpus import Corpus
from klda.text.documents import Documents, Ints, Ragged, chosen, end_to_end, gather, offsets

BLOCK = 1 << 18
"""Documents moved at a time."""


def in_time(parts: Sequence[Documents]) -> Ints:
    """Positions of the parts' documents, end to end, by time; by part and place where times are equal. # (D,)"""
    return np.argsort(end_to_end([part.time for part in parts]), kind="stable")


def joined(parts: Sequence[Corpus], scratch: Path, order: Ints | None = None) -> Corpus:
    """One corpus of parts that share vocabulary, candidates and windows; their posts follow one another.

    `order` picks some of the documents, as positions in the parts end to end; those apart are left behind then. Arrays
    are written to nameless files in `scratch` (in the system's folder for such files where that cannot be written to)
    and mapped, so that memory does not grow with the corpus.
    """
    all_documents, all_apart = [part.documents for part in parts], [part.apart for part in parts]
    first_post = offsets(np.array([len(part.posts) for part in parts]))
    nothing = np.zeros(0, dtype=np.int64)
    order, order_apart = (in_time(all_documents), in_time(all_apart)) if order is None else (order, nothing)
    lists = [part.observed for part in parts]
    indptr = offsets(chosen(end_to_end([ragged.lengths for ragged in lists]), order))
    values = _moved([ragged.indptr for ragged in lists], [ragged.values for ragged in lists], indptr, order, scratch)
    return replace(
        parts[0],
        documents=_join(all_documents, order, first_post, scratch),
        observed=Ragged(indptr, values),
        apart=_join(all_apart, order_apart, first_post, scratch),
        posts=PostTable(pa.concat_tables([part.posts.table for part in parts])),
    )


def _join(parts: Sequence[Documents], order: Ints, first_post: Ints, scratch: Path) -> Documents:
    """The documents at these positions of all parts."""
    indptr = offsets(chosen(end_to_end([np.diff(part.indptr) for part in parts]), order))
    starts = [part.indptr for part in parts]
    post = [part.post + first for part, first in zip(parts, first_post, strict=False)]
    return Documents(
        indptr,
        _moved(starts, [part.words for part in parts], indptr, order, scratch),
        _moved(starts, [part.counts for part in parts], indptr, order, scratch),
        _on_disk([part.time for part in parts], order, scratch),
        _on_disk([part.window for part in parts], order, scratch),
        _on_disk(post, order, scratch),
    )


def _moved(
    starts: Sequence[Ints], values: Sequence[NDArray[Any]], indptr: Ints, order: Ints, scratch: Path
) -> NDArray[Any]:
    """The lists of all parts in a new order, a block at a time; list i lies from indptr[i] to indptr[i + 1]."""
    found = nameless(int(indptr[-1]), values[0].dtype, scratch)
    first = offsets(np.array([len(start) - 1 for start in starts]))
    for low in range(0, len(order), BLOCK):
        rows = order[low : low + BLOCK]
        part = np.searchsorted(first, rows, side="right") - 1
        for number in np.unique(part).tolist():
            here = np.flatnonzero(part == number)
            local = rows[here] - first[number]
            lengths = starts[number][local + 1] - starts[number][local]
            found[gather(indptr[low + here], lengths)] = values[number][gather(starts[number][local], lengths)]
    found.flags.writeable = False
    return found


def _on_disk(arrays: Sequence[NDArray[Any]], order: Ints, scratch: Path) -> NDArray[Any]:
    """The numbers of all parts in a new order."""
    found = np.take(end_to_end(arrays), order, out=nameless(len(order), arrays[0].dtype, scratch), mode="wrap")
    found.flags.writeable = False
    return found
