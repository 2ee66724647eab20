from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.model.bound import expectation, terms
from tests.unit.model import slow_reference


def _problem(seed: int, n_rows: int = 4, n_topics: int = 3):
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, 6, n_rows)
    row = torch.from_numpy(np.repeat(np.arange(n_rows), lengths))
    beta = generator.dirichlet(np.ones(9), size=n_topics)
    word = generator.integers(0, 9, lengths.sum())
    log_beta = torch.from_numpy(np.log(beta[:, word].T))
    counts = torch.from_numpy(generator.integers(1, 4, lengths.sum()).astype(float))
    prior = torch.from_numpy(generator.uniform(0.3, 2, (n_rows, n_topics)))
    return log_beta, counts, row, prior, beta, word


def _bound(log_beta, counts, row, prior, gamma, phi) -> torch.Tensor:
    nothing = prior.new_zeros(len(prior))
    return terms(
        keyword_log_probability=nothing,
        keyword_log_density=nothing,
        prior=prior,
        gamma=gamma,
        phi=phi,
        word_log_probability=log_beta,
        counts=counts,
        row=row,
    ).total()


def test_each_row_gets_what_plain_loops_give_it():
    log_beta, counts, row, prior, beta, word = _problem(0)
    gamma, phi = expectation(log_beta, counts, row, prior, iterations=7, tolerance=0)
    for r in range(4):
        mine = (row == r).numpy()
        tokens = np.repeat(word[mine], counts.numpy()[mine].astype(int)).tolist()
        slow_phi, slow_gamma = slow_reference.e_step(tokens, (), (), beta, prior[r].numpy(), 7)
        np.testing.assert_allclose(gamma[r].numpy(), slow_gamma)
        per_token = np.repeat(phi.numpy()[mine], counts.numpy()[mine].astype(int), axis=0)
        np.testing.assert_allclose(per_token, slow_phi)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_row_whose_words_are_all_taken_out_keeps_its_prior_however_small(dtype):
    log_beta = torch.tensor([[0.5, 0.5], [0.9, 0.1]], dtype=dtype).log()
    prior = torch.tensor([[1e-3, 1e-4]], dtype=dtype)
    nothing = torch.zeros(2, dtype=dtype)
    gamma, phi = expectation(log_beta, nothing, torch.zeros(2, dtype=torch.long), prior)
    assert torch.equal(gamma, prior)
    assert torch.isfinite(_bound(log_beta, nothing, torch.zeros(2, dtype=torch.long), prior, gamma, phi)).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_no_iteration_lowers_the_bound(seed: int):
    log_beta, counts, row, prior, *_ = _problem(seed)
    values = []
    for iterations in range(1, 12):
        gamma, phi = expectation(log_beta, counts, row, prior, iterations=iterations, tolerance=0)
        values.append(_bound(log_beta, counts, row, prior, gamma, phi))
    gains = torch.stack(values).diff(dim=0)
    assert (gains > -1e-9).all()


def test_the_end_is_a_fixed_point():
    log_beta, counts, row, prior, *_ = _problem(3)
    gamma, phi = expectation(log_beta, counts, row, prior, iterations=2000, tolerance=1e-14)
    again, phi_again = expectation(log_beta, counts, row, prior, iterations=1, tolerance=0, start=gamma)
    torch.testing.assert_close(again, gamma)
    torch.testing.assert_close(phi_again, phi)
    torch.testing.assert_close(gamma, prior.index_add(0, row, phi * counts[:, None]))


def test_a_row_without_tokens_keeps_its_prior():
    gamma, phi = expectation(torch.zeros(0, 2), torch.zeros(0), torch.zeros(0, dtype=torch.long), torch.ones(3, 2))
    assert (gamma == 1).all()
    assert phi.shape == (0, 2)


def test_words_of_vanishing_probability_do_not_underflow():
    log_beta = torch.tensor([[-400.0, -410.0]])
    gamma, phi = expectation(log_beta, torch.ones(1), torch.zeros(1, dtype=torch.long), torch.ones(1, 2))
    assert torch.isfinite(phi).all()
    assert gamma[0, 0] > 1.9
