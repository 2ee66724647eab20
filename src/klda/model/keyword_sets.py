"""Documents under keyword sets: which sets a document may have, and which tokens each set leaves to the topics.

A *row* is one document under one keyword set (or one relaxed keyword vector). Pre-training has one row for each
document, all its observed candidates; enumeration has one for each subset; Gumbel draws have one, with values between
0 and 1. A candidate that the document does not carry is never part of a row: that is the paper's mask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from klda.model.batches import Batch
from klda.model.networks import KeywordBags
from klda.text.documents import Ints, Words, gather, offsets


@dataclass(frozen=True)
class Rows:
    """Documents under keyword sets, and the tokens that are left to explain once the keywords are taken out."""

    document: Tensor  # (R,)  local
    bags: KeywordBags  # the distinct keyword sets
    bag: Tensor  # (R,)  which of them is the row's
    token: Tensor  # (T,)  local entry of the batch that each token of a row is
    words: Tensor  # (T,)
    counts: Tensor  # (T,)  float; 0 where a relaxed keyword takes the word out
    token_row: Tensor  # (T,)
    member_pair: Tensor  # (A,)  local pair of each keyword in a row
    member_row: Tensor  # (A,)
    member_value: Tensor | None  # (A,)  None where every value is 1

    def __len__(self) -> int:
        return len(self.document)

    @property
    def token_bag(self) -> Tensor:
        """The keyword set that each token is seen under. # (T,)"""
        return self.bag[self.token_row]


@dataclass(frozen=True)
class Choice:
    """Which pairs of a batch are enumerated, and the fixed state of the others."""

    rank: Ints  # (P,)  position among the document's enumerated pairs, -1 when the pair is fixed
    fixed: NDArray[np.bool_]  # (P,)  the state of the pairs that are not enumerated


def all_observed(batch: Batch) -> Choice:
    """Every observed candidate is a keyword: what pre-training assumes."""
    n = len(batch.pair)
    return Choice(np.full(n, -1), np.ones(n, dtype=bool))


class Draws(Protocol):
    """A source of uniform draws: a generator, or the part of one that a worker among several takes."""

    def random(self, size: tuple[int, int], /) -> NDArray[np.float64]:
        """Draws between 0 and 1."""
        ...


def choose(batch: Batch, limit: int, rate: NDArray[np.floating], draws: Draws) -> Choice:
    """All pairs are enumerated where a document has at most `limit`; elsewhere `limit` of them at random.

    The rest is drawn from its own rates. For an enumerated pair the gradient is then exact given the others, hence
    unbiased; a pair that is drawn gets its turn at a later visit.
    """
    n_each = np.diff(batch.pair_start)
    rank = np.arange(len(batch.pair)) - np.repeat(batch.pair_start[:-1], n_each)
    fixed = np.zeros(len(batch.pair), dtype=bool)
    crowded = np.repeat(n_each > limit, n_each)
    where = np.flatnonzero(crowded)
    order, coin = draws.random((2, len(where)))  # also when there is nothing to draw: other workers may have to
    if len(where):
        shuffled = where[np.lexsort((order, batch.pair_document[where]))]
        rank[shuffled] = rank[where]  # the same ranks in each document, in random order
        fixed[where] = coin < rate[where]
        drawn = rank >= limit
        rank[drawn] = -1
        fixed &= drawn
    return Choice(rank, fixed)


def enumerate_rows(
    batch: Batch,
    choice: Choice,
    *,
    allow_empty: bool,
    device: torch.device,
    take_out: bool = True,
    shared: bool = False,
    carried: Callable[[NDArray[np.uint64]], NDArray[np.uint64]] | None = None,
) -> Rows:
    """One row for each state of the enumerated pairs of each document.

    The empty set is left out unless it is allowed, or is all that a document without candidates can have. Every
    occurrence of a keyword's words is taken out of its rows, unless `take_out` is off. With `shared`, only keyword
    sets that some document of the batch carries in full are kept: each document's own, and those that cost nothing
    more, because g is evaluated for them anyway. Where others hold a part of the batch, `carried` adds their sets.
    """
    n_documents = len(batch)
    free = choice.rank >= 0
    document_of_pair = batch.pair_document
    n_free = np.bincount(document_of_pair[free], minlength=n_documents)
    any_fixed = np.bincount(document_of_pair[choice.fixed], minlength=n_documents) > 0
    skip = np.zeros(n_documents, dtype=np.int64) if allow_empty else (~any_fixed & (n_free > 0)).astype(np.int64)
    n_rows = (1 << n_free) - skip
    document = np.repeat(np.arange(n_documents), n_rows)
    state = np.arange(len(document)) - np.repeat(offsets(n_rows)[:-1] - skip, n_rows)

    n_pairs = np.diff(batch.pair_start)[document]
    pair = gather(batch.pair_start[document], n_pairs)
    row = np.repeat(np.arange(len(document)), n_pairs)
    rank = choice.rank[pair]
    on = np.where(rank >= 0, (state[row] >> np.maximum(rank, 0)) & 1, choice.fixed[pair]).astype(bool)
    member_pair, member_row = pair[on], row[on]
    size = np.bincount(member_row, minlength=len(document))
    key = _set_keys(batch.pair_keyword[member_pair], offsets(size))
    distinct, first, bag = np.unique(key, return_index=True, return_inverse=True)
    bag_size = size[first]
    bag_keywords = batch.pair_keyword[member_pair[gather(offsets(size)[first], bag_size)]]
    if shared:
        in_full = np.zeros(len(distinct), dtype=bool)
        in_full[bag[size == n_pairs]] = True
        if carried is not None:
            in_full = np.isin(distinct, carried(distinct[in_full]))
        keep = in_full[bag]
        place = np.cumsum(keep) - 1
        document, bag = document[keep], (np.cumsum(in_full) - 1)[bag[keep]]
        stays = keep[member_row]
        member_pair, member_row = member_pair[stays], place[member_row[stays]]
        bag_keywords, bag_size = bag_keywords[np.repeat(in_full, bag_size)], bag_size[in_full]

    nobody = member_pair[:0]
    token, token_row = _tokens_left(batch, document, *((member_pair, member_row) if take_out else (nobody, nobody)))

    def tensor(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(device)

    return Rows(
        tensor(document),
        KeywordBags(tensor(bag_keywords.astype(np.int64)), tensor(offsets(bag_size)[:-1])),
        tensor(bag),
        tensor(token),
        tensor(batch.words[token].astype(np.int64)),
        tensor(batch.counts[token].astype(np.float32)),
        tensor(token_row),
        tensor(member_pair),
        tensor(member_row),
        None,
    )


def _tokens_left(batch: Batch, document: Ints, member_pair: Ints, member_row: Ints) -> tuple[Ints, Ints]:
    """The tokens of every row that none of its keywords covers, and their rows."""
    n_tokens = np.diff(batch.token_start)[document]
    token = gather(batch.token_start[document], n_tokens)
    token_row = np.repeat(np.arange(len(document)), n_tokens)
    n_cover = np.diff(batch.cover_start)[member_pair]
    covered = batch.cover_token[gather(batch.cover_start[member_pair], n_cover)]
    shift = offsets(n_tokens)[:-1] - batch.token_start[document]
    keep = np.ones(len(token), dtype=bool)
    keep[covered + np.repeat(shift[member_row], n_cover)] = False
    return token[keep], token_row[keep]


def _set_keys(keyword: Words, start: Ints) -> NDArray[np.uint64]:
    """One number for the keyword set of each row, equal for equal sets. # (A,), (R + 1,) → (R,)"""
    # The sum of one 64-bit hash a keyword stands for the set: rows need no (rows, Q) array to be compared.
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(keyword))])  # may wrap; differences do not care
    return np.diff(total[start])


def _mixed(number: Words) -> NDArray[np.uint64]:
    """A well-mixed 64-bit hash of each number (splitmix64's finaliser)."""
    x = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def relaxed_rows(batch: Batch, y: Tensor, *, threshold: float = 0.5) -> Rows:
    """One row for each document with a relaxed value for each pair; values above the threshold take words out.

    y: (P,), may require a gradient.
    """
    device = y.device

    def tensor(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(device)

    cover_pair = tensor(np.repeat(np.arange(len(batch.pair)), np.diff(batch.cover_start)))
    out = y.detach()[cover_pair] > threshold
    counts = tensor(batch.counts.astype(np.float32))
    counts[tensor(batch.cover_token)[out]] = 0
    document = torch.arange(len(batch), device=device)
    return Rows(
        document,
        KeywordBags(tensor(batch.pair_keyword.astype(np.int64)), tensor(batch.pair_start[:-1]), y),
        document,
        torch.arange(len(batch.words), device=device),
        tensor(batch.words.astype(np.int64)),
        counts,
        tensor(batch.token_document),
        torch.arange(len(y), device=device),
        tensor(batch.pair_document),
        y,
    )


def log_weights(
    rows: Rows, logits: Tensor, choice: Choice, batch: Batch, *, allow_empty: bool
) -> tuple[Tensor, Tensor]:
    """log q(row | fixed pairs) and log q(fixed pairs), each for each row. # (P,) → (R,), (R,)

    q is a product of Bernoullis with the given logits over the enumerated pairs of a document, conditioned on a
    non-empty set where the empty one is not allowed. The second part carries no gradient.
    """
    device = logits.device
    free = torch.from_numpy(choice.rank >= 0).to(device)
    pair_document = torch.from_numpy(batch.pair_document).to(device)
    off = torch.nn.functional.logsigmoid(-logits)  # (P,)
    fixed = torch.from_numpy(choice.fixed).to(device)
    zeros = logits.new_zeros(len(batch))
    base = zeros.index_add(0, pair_document, torch.where(free, off, 0.0))  # (B,)
    if not allow_empty:
        lacking = zeros.index_add(0, pair_document, fixed.to(off.dtype)) == 0
        normaliser = torch.log(-torch.expm1(base.clamp_max(-1e-30)))
        base = base - torch.where(lacking & (base < 0), normaliser, 0.0)
    chosen = torch.where(free, logits, 0.0)[rows.member_pair]
    weight = base[rows.document].index_add(0, rows.member_row, chosen)  # (R,)
    rest = torch.where(free, 0.0, off + torch.where(fixed, logits, 0.0)).detach()
    return weight, zeros.index_add(0, pair_document, rest)[rows.document]
