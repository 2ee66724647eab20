from __future__ import annotations

import torch
from torch import nn

from klda.model.training_state import FusedAdam, RaggedRMSprop


def test_visiting_few_parameters_at_a_time_equals_dense_rmsprop():
    generator = torch.Generator().manual_seed(0)
    dense = nn.Parameter(torch.randn(20, generator=generator, dtype=torch.float64))
    ragged = RaggedRMSprop(dense.detach().clone(), learning_rate=0.005)
    stock = torch.optim.RMSprop([dense], lr=0.005, alpha=0.99, eps=1e-8)
    for iteration in range(1, 200):
        index = torch.randperm(20, generator=generator)[:3]
        gradient = torch.randn(3, generator=generator, dtype=torch.float64)
        dense.grad = torch.zeros(20, dtype=torch.float64).index_put((index,), gradient)
        stock.step()
        ragged.step(index, gradient, iteration)
    torch.testing.assert_close(ragged.values, dense.detach(), rtol=1e-10, atol=1e-12)


def test_without_the_missed_decay_the_two_would_part():
    values = [torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)]
    gradient, index = torch.ones(1, dtype=torch.float64), torch.tensor([0])
    results = []
    for gap, value in zip((1, 50), values, strict=True):
        optimiser = RaggedRMSprop(value)
        optimiser.step(index, gradient, 1)
        optimiser.step(index, gradient, 1 + gap)
        results.append(float(optimiser.values))
    assert results[0] != results[1]


def test_fused_adam_is_adam():
    start = torch.linspace(-1, 1, 7)
    fused, plain = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimisers = [FusedAdam([fused], 0.01), torch.optim.Adam([plain], lr=0.01)]
    for step in range(20):
        for parameter, optimiser in zip((fused, plain), optimisers, strict=True):
            parameter.grad = torch.cos(parameter.detach() * (step + 1))
            optimiser.step()
    torch.testing.assert_close(fused, plain)


def test_the_penalty_pulls_on_weights_and_not_on_biases():
    start = torch.tensor([[1.0, 2.0], [3.0, 4.0]])  # a row of weights above a row of biases
    fused, written_out = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    other = nn.Parameter(torch.ones(2))
    penalised = [(fused, 1)]
    adam = FusedAdam([fused, other], 0.05, penalised=penalised, penalty=0.1)
    plain = torch.optim.Adam([written_out], lr=0.05)
    for step in range(20):
        slope = torch.sin(torch.arange(4.0).view(2, 2) * (step + 1))
        fused.grad, other.grad = slope.clone(), torch.zeros(2)
        adam.step()
        written_out.grad = slope.clone()
        written_out.grad[0] += 2 * 0.1 * written_out.detach()[0]
        plain.step()
    torch.testing.assert_close(fused, written_out)
    assert torch.equal(other, torch.ones(2))
