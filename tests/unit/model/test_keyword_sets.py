from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from klda.model.batches import Batch, make_batch
from klda.model.keyword_sets import Choice, all_observed, choose, enumerate_rows, log_weights, relaxed_rows
from tests.unit.model.small import data_of, random_data

CPU = torch.device("cpu")


def _batch() -> Batch:
    data = data_of([[5, 0, 0, 1], [1, 2, 5], [3, 1, 0, 2, 4]], [[0, 1], [1], [0, 1, 2]], [[0], [1, 3], [2]], 6)
    return make_batch(data, np.arange(3))


def _everything(batch: Batch) -> Choice:
    return choose(batch, 12, np.full(len(batch.pair), 0.5), np.random.default_rng(0))


def _sets(rows, batch: Batch) -> list[tuple[int, tuple[int, ...]]]:
    members: list[list[int]] = [[] for _ in range(len(rows))]
    for pair, row in zip(rows.member_pair.tolist(), rows.member_row.tolist(), strict=True):
        members[row].append(int(batch.pair_keyword[pair]))
    return [(d, tuple(m)) for d, m in zip(rows.document.tolist(), members, strict=True)]


@pytest.mark.parametrize("allow_empty", [False, True])
def test_every_subset_of_the_observed_candidates_is_a_row_once(allow_empty: bool):
    batch = _batch()
    rows = enumerate_rows(batch, _everything(batch), allow_empty=allow_empty, device=CPU)
    expected = [
        (document, subset)
        for document, observed in enumerate([[0, 1], [1], [0, 1, 2]])
        for size in range(0 if allow_empty else 1, len(observed) + 1)
        for subset in itertools.combinations(observed, size)
    ]
    assert sorted(_sets(rows, batch)) == sorted(expected)


def test_keyword_words_leave_every_row_that_has_the_keyword():
    batch = _batch()
    rows = enumerate_rows(batch, _everything(batch), allow_empty=True, device=CPU)
    words = {0: [0, 1, 5], 1: [1, 2, 5], 2: [0, 1, 2, 3, 4]}
    covers = [{0}, {1, 3}, {2}]
    for row, (document, subset) in enumerate(_sets(rows, batch)):
        gone = set().union(*(covers[j] for j in subset))
        mine = rows.token_row == row
        assert rows.words[mine].tolist() == [w for w in words[document] if w not in gone]


def test_equal_keyword_sets_share_one_bag():
    batch = _batch()
    rows = enumerate_rows(batch, _everything(batch), allow_empty=False, device=CPU)
    ends = [*rows.bags.start.tolist()[1:], len(rows.bags.keywords)]
    bags = [tuple(rows.bags.keywords[a:b].tolist()) for a, b in zip(rows.bags.start.tolist(), ends, strict=True)]
    assert len(set(bags)) == len(bags) == 7
    assert [bags[b] for b in rows.bag.tolist()] == [subset for _, subset in _sets(rows, batch)]


def test_shared_rows_have_sets_that_some_document_carries_in_full():
    batch = _batch()
    rows = enumerate_rows(batch, _everything(batch), allow_empty=False, device=CPU, shared=True)
    assert sorted(_sets(rows, batch)) == [
        (0, (0, 1)), (0, (1,)), (1, (1,)), (2, (0, 1)), (2, (0, 1, 2)), (2, (1,)),
    ]  # fmt: skip
    assert len(rows.bags) == 3
    everything = enumerate_rows(batch, _everything(batch), allow_empty=False, device=CPU)
    left = {key: everything.words[everything.token_row == r].tolist() for r, key in enumerate(_sets(everything, batch))}
    for row, key in enumerate(_sets(rows, batch)):
        assert rows.words[rows.token_row == row].tolist() == left[key]


def test_pre_training_has_one_row_a_document_with_all_it_carries():
    batch = _batch()
    rows = enumerate_rows(batch, all_observed(batch), allow_empty=True, device=CPU)
    assert _sets(rows, batch) == [(0, (0, 1)), (1, (1,)), (2, (0, 1, 2))]


@pytest.mark.parametrize("allow_empty", [False, True])
def test_weights_are_the_bernoulli_probabilities_of_the_sets(allow_empty: bool):
    batch = _batch()
    choice = _everything(batch)
    rows = enumerate_rows(batch, choice, allow_empty=allow_empty, device=CPU)
    logits = torch.randn(len(batch.pair), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weight, rest = log_weights(rows, logits, choice, batch, allow_empty=allow_empty)
    assert (rest == 0).all()
    rate = torch.sigmoid(logits)
    for row, (document, subset) in enumerate(_sets(rows, batch)):
        pairs = range(batch.pair_start[document], batch.pair_start[document + 1])
        chance, empty = 1.0, 1.0
        for pair in pairs:
            on = batch.pair_keyword[pair] in subset
            chance *= float(rate[pair] if on else 1 - rate[pair])
            empty *= float(1 - rate[pair])
        assert float(weight[row].exp()) == pytest.approx(chance if allow_empty else chance / (1 - empty))
    total = torch.zeros(3, dtype=torch.float64).index_add(0, rows.document, weight.exp())
    torch.testing.assert_close(total, torch.ones_like(total))


def test_a_crowded_document_enumerates_some_pairs_and_draws_the_others():
    data = data_of([[0, 1, 2, 3, 4]], [[0, 1, 2, 3, 4]], [[j] for j in range(5)], 6)
    batch = make_batch(data, np.arange(1))
    generator = np.random.default_rng(0)
    free, drawn = np.zeros(5), np.zeros(5)
    for _ in range(1000):
        choice = choose(batch, 2, np.full(5, 0.3), generator)
        assert sorted(choice.rank[choice.rank >= 0]) == [0, 1]
        assert not choice.fixed[choice.rank >= 0].any()
        free += choice.rank >= 0
        drawn += choice.fixed
    np.testing.assert_allclose(free / 1000, 2 / 5, atol=0.05)
    np.testing.assert_allclose(drawn / 1000, 0.3 * 3 / 5, atol=0.04)


def test_the_gradient_of_crowded_documents_is_unbiased_up_to_its_rate():
    """Any function of the set will do: its mean over many choices moves like its exact expectation."""
    data = data_of([[0, 1, 2, 3]], [[0, 1, 2, 3]], [[j] for j in range(4)], 5)
    batch = make_batch(data, np.arange(1))
    logits = torch.tensor([0.5, -0.3, 0.8, 0.1], dtype=torch.float64, requires_grad=True)
    score = torch.randn(16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    def expected(choice: Choice) -> torch.Tensor:
        rows = enumerate_rows(batch, choice, allow_empty=True, device=CPU)
        code = torch.zeros(len(rows), dtype=torch.long).index_add(
            0, rows.member_row, 2 ** torch.from_numpy(batch.pair_keyword[rows.member_pair.numpy()]).long()
        )
        weight, _ = log_weights(rows, logits, choice, batch, allow_empty=True)
        return (weight.exp() * score[code]).sum()

    generator = np.random.default_rng(0)
    (exact,) = torch.autograd.grad(expected(_everything(batch)), logits)
    rate = torch.sigmoid(logits.detach()).numpy()
    drawn = [torch.autograd.grad(expected(choose(batch, 2, rate, generator)), logits)[0] for _ in range(1500)]
    torch.testing.assert_close(torch.stack(drawn).mean(0) * 2, exact, atol=0.03, rtol=0)


def test_relaxed_rows_at_zero_and_one_equal_the_enumerated_ones():
    batch = _batch()
    relaxed = relaxed_rows(batch, torch.ones(len(batch.pair)))
    observed = enumerate_rows(batch, all_observed(batch), allow_empty=True, device=CPU)
    left = [(r, w) for r, w, c in zip(relaxed.token_row, relaxed.words, relaxed.counts, strict=True) if c]
    assert left == list(zip(observed.token_row, observed.words, strict=True))
    assert relaxed_rows(batch, torch.zeros(len(batch.pair))).counts.sum() == batch.n_tokens


def test_only_values_above_the_threshold_take_words_out():
    batch = _batch()
    y = torch.full((len(batch.pair),), 0.4)
    assert relaxed_rows(batch, y, threshold=0.5).counts.sum() == batch.n_tokens
    assert relaxed_rows(batch, y, threshold=0.3).counts.sum() < batch.n_tokens


def test_many_candidates_do_not_confuse_which_sets_are_equal():
    data = random_data(n_documents=300, n_words=90, n_keywords=80, length=14)
    batch = make_batch(data, np.arange(300))
    rows = enumerate_rows(batch, all_observed(batch), allow_empty=True, device=CPU)
    sets = {subset for _, subset in _sets(rows, batch)}
    assert len(rows.bags) == len(sets)
