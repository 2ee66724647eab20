from __future__ import annotations

import numpy as np
import pytest
import torch

from klda.model import bound
from klda.model.batches import make_batch
from klda.model.data import totals
from klda.model.keyword_sets import all_observed, choose, enumerate_rows, log_weights, relaxed_rows
from klda.model.model_settings import ModelSettings
from klda.model.objective import batch_weights, row_keyword_log_probability, row_terms
from tests.unit.model import slow_reference, slow_scores
from tests.unit.model.small import data_of, parameters_of, random_data, tokens_of
from tests.unit.model.test_networks import _layers

CPU = torch.device("cpu")
SETTINGS = ModelSettings(
    n_topics=3,
    hidden=(6, 4),
    relaxation="gumbel",
    topic_prior="parametric",
    expectation_iterations=6,
    expectation_tolerance=0,
)


def _slow_prior(parameters, y: np.ndarray) -> np.ndarray:
    """f written out: the layers of g, then softplus."""
    hidden = y
    layers = parameters.topic_prior.layers
    dense = [p.detach().numpy() for p in layers.dense]
    pairs = [
        (layers.keyword.detach().numpy(), layers.bias.detach().numpy()),
        *zip(dense[::2], dense[1::2], strict=True),
    ]
    for weight, bias in pairs:
        hidden = hidden @ weight + bias
        hidden = np.where(hidden < 0, 0.01 * hidden, hidden)
    out = hidden @ parameters.topic_prior.weight.detach().numpy() + parameters.topic_prior.bias.detach().numpy()
    return np.log1p(np.exp(out)) + 1e-3


@pytest.mark.parametrize("word_weight", ["tokens", "vocabulary"])
def test_all_seven_terms_equal_the_equations(word_weight: str):
    settings = ModelSettings(**{**SETTINGS.__dict__, "word_weight": word_weight})
    data = random_data(n_documents=9)
    parameters = parameters_of(data, settings)
    batch = make_batch(data, np.array([0, 2, 3, 7]))
    generator = np.random.default_rng(0)
    y = generator.uniform(0, 1, len(batch.pair))
    epsilon = generator.uniform(0.1, 0.9, len(batch.pair))
    rows = relaxed_rows(batch, torch.from_numpy(y))
    logits = torch.from_numpy(np.log(epsilon) - np.log1p(-epsilon))
    off = torch.nn.functional.logsigmoid(-logits)
    density = off.new_zeros(4).index_add(0, rows.member_row, rows.member_value * logits + off)
    fast = row_terms(
        parameters,
        rows,
        settings,
        keyword_log_probability=row_keyword_log_probability(parameters.theta, rows, batch, settings),
        keyword_log_density=density,
    )
    document_weight, word_weight_value = batch_weights(totals(data), batch, settings)

    keyword_words = [set(words) for words in data.keyword_words.lists()]
    states = []
    for local, document in enumerate(batch.documents):
        pairs = slice(batch.pair_start[local], batch.pair_start[local + 1])
        dense_y, dense_epsilon = np.zeros(4), np.full(4, 0.5)
        dense_y[batch.pair_keyword[pairs]] = y[pairs]
        dense_epsilon[batch.pair_keyword[pairs]] = epsilon[pairs]
        topic_word = slow_reference.g(dense_y, _layers(parameters.topic_word), 3)
        topic_prior = _slow_prior(parameters, dense_y)
        tokens = tokens_of(data, int(document))
        phi, gamma = slow_reference.e_step(tokens, dense_y, keyword_words, topic_word, topic_prior, 6)
        observed = data.observed[int(document)].tolist()
        states.append(
            slow_reference.DocumentState(tokens, observed, dense_y, dense_epsilon, topic_prior, topic_word, phi, gamma)
        )
    slow = slow_reference.estimator(
        states,
        parameters.theta.detach().numpy(),
        settings.keyword_penalty,
        keyword_words,
        n_documents=len(data),
        word_total=data.n_words if word_weight == "vocabulary" else int(data.n_tokens),
    )
    for name, value in slow.items():
        weight = word_weight_value if name in slow_reference.WORD_TERMS else document_weight
        assert weight * getattr(fast, name).sum().item() == pytest.approx(value, rel=1e-6), name
    total = fast.total(document_weight=document_weight, word_weight=word_weight_value).sum().item()
    assert total == pytest.approx(sum(slow.values()), rel=1e-6)


def test_with_one_keyword_in_every_document_the_bound_is_that_of_plain_lda():
    settings = ModelSettings(n_topics=3, expectation_iterations=15, expectation_tolerance=0)
    generator = np.random.default_rng(0)
    documents = [[0, *generator.integers(1, 8, 6).tolist()] for _ in range(5)]
    data = data_of(documents, [[0]] * 5, [[0]], 8)
    parameters = parameters_of(data, settings)
    batch = make_batch(data, np.arange(5))
    rows = enumerate_rows(batch, all_observed(batch), allow_empty=False, device=CPU)
    nothing = torch.zeros(5, dtype=torch.float64)
    fast = row_terms(parameters, rows, settings, keyword_log_probability=nothing, keyword_log_density=nothing)
    beta = slow_reference.g([1.0], _layers(parameters.topic_word), 3)
    for document in range(5):
        others = [word for word in tokens_of(data, document) if word != 0]
        phi, gamma = slow_scores.lda_e_step(others, np.ones(3), beta, 15)
        slow = slow_scores.lda_bound(others, gamma, phi, np.ones(3), beta)
        assert fast.total()[document].item() == pytest.approx(slow, rel=1e-6)
        assert slow <= slow_scores.lda_likelihood(others, np.ones(3), beta) + 1e-9


@pytest.mark.parametrize("relaxed", [False, True])
def test_gradients_of_all_parameters_agree_with_finite_differences(relaxed: bool):
    """φ and γ are held at their optimum by many iterations, where the bound does not move with them."""
    changes = {"relaxation": "gumbel" if relaxed else "enumerate", "expectation_iterations": 3000}
    settings = ModelSettings(**{**SETTINGS.__dict__, **changes, "expectation_tolerance": 1e-13})
    data = random_data(n_documents=5, n_words=7, n_keywords=3, length=5)
    parameters = parameters_of(data, settings)
    batch = make_batch(data, np.arange(5))
    logits = torch.linspace(-1, 1, len(batch.pair), dtype=torch.float64).requires_grad_()
    choice = choose(batch, 12, np.full(len(batch.pair), 0.5), np.random.default_rng(0))

    def objective() -> torch.Tensor:
        if relaxed:
            y = torch.sigmoid(logits * 1.3 + 0.2)
            rows = relaxed_rows(batch, y)
            off = torch.nn.functional.logsigmoid(-logits)
            density = off.new_zeros(len(rows)).index_add(0, rows.member_row, y * logits + off)
            weight = torch.ones_like(density)
        else:
            rows = enumerate_rows(batch, choice, allow_empty=False, device=CPU)
            density, _ = log_weights(rows, logits, choice, batch, allow_empty=False)
            weight = density.exp()
        log_prior = row_keyword_log_probability(parameters.theta, rows, batch, settings)
        terms = row_terms(parameters, rows, settings, keyword_log_probability=log_prior, keyword_log_density=density)
        return (weight * terms.total()).sum()

    objective().backward()
    tensors = [*parameters.topic_word.parameters(), *parameters.topic_prior.parameters(), parameters.theta, logits]
    generator = np.random.default_rng(1)
    for tensor in tensors:
        flat, gradient = tensor.data.view(-1), tensor.grad.view(-1)
        for i in generator.choice(len(flat), min(4, len(flat)), replace=False).tolist():
            values = []
            for step in (1e-5, -2e-5):
                flat[i] += step
                values.append(objective().item())
            flat[i] += 1e-5
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(gradient[i].item(), rel=1e-4, abs=1e-6)


def test_the_paper_s_negative_weight_scales_only_the_slope_of_log_z():
    data = random_data()
    batch = make_batch(data, np.arange(4))
    rows = enumerate_rows(batch, all_observed(batch), allow_empty=False, device=CPU)
    values, slopes = [], []
    for weight in (1.0, 0.1, 0.0):
        settings = ModelSettings(negative_weight=weight)
        theta = parameters_of(data, settings).theta
        value = row_keyword_log_probability(theta, rows, batch, settings)
        values.append(value.detach())
        slopes.append(torch.autograd.grad(value.sum(), theta)[0])
    torch.testing.assert_close(values[0], values[1])
    torch.testing.assert_close((slopes[2] - slopes[1]) * 10, slopes[2] - slopes[0])


def test_chains_replace_only_the_slope_of_log_z():
    data = random_data()
    settings = ModelSettings()
    batch = make_batch(data, np.arange(4))
    rows = enumerate_rows(batch, all_observed(batch), allow_empty=False, device=CPU)
    theta = parameters_of(data, settings).theta
    chains = torch.tensor([[True, False, False, False], [True, True, False, False]])
    value = row_keyword_log_probability(theta, rows, batch, settings, chains)
    torch.testing.assert_close(value, row_keyword_log_probability(theta, rows, batch, settings))
    (slope,) = torch.autograd.grad(value.sum(), theta)
    held = np.bincount(batch.pair_keyword, minlength=4)
    torch.testing.assert_close(slope, torch.from_numpy(held - 4 * np.array([1.0, 0.5, 0.0, 0.0])))


def test_terms_that_are_not_finite_are_named():
    fine = torch.zeros(2)
    terms = bound.BoundTerms(fine, fine, fine, torch.tensor([0.0, torch.nan]), fine, fine, fine)
    assert terms.not_finite() == ["words"]
