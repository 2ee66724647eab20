from __future__ import annotations

import pytest
import torch

from klda.model.vocabulary_softmax import Workspace, word_log_probability


def _inputs(spread: float = 1.0, dtype: torch.dtype = torch.float64):
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(4, 3, generator=generator, dtype=dtype) * spread
    weight = torch.randn(4, 2, 7, generator=generator, dtype=dtype)  # the last row is the bias
    bag = torch.tensor([0, 0, 1, 3, 3, 3])
    word = torch.tensor([2, 2, 6, 0, 1, 2])
    return features, weight, bag, word


def _plain(features: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(torch.einsum("sf,fkv->skv", features, weight[:-1]) + weight[-1], -1)


def test_words_get_their_log_softmax():
    features, weight, bag, word = _inputs()
    expected = _plain(features, weight)[bag, :, word]
    torch.testing.assert_close(word_log_probability(features, weight, bag, word, Workspace()), expected)


def _gradients(upstream: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    features, weight, bag, word = _inputs()
    mine = [features.clone().requires_grad_(), weight.clone().requires_grad_()]
    (word_log_probability(*mine, bag, word, Workspace()) * upstream).sum().backward()
    plain = [features.clone().requires_grad_(), weight.clone().requires_grad_()]
    (_plain(*plain)[bag, :, word] * upstream).sum().backward()
    return [tensor.grad for tensor in mine], [tensor.grad for tensor in plain]


def test_the_gradient_equals_that_of_a_plain_log_softmax_for_any_upstream_gradient():
    upstream = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(*_gradients(upstream))


def test_the_gradient_is_right_where_the_expected_counts_cancel_out_or_there_are_none():
    cancelling = torch.tensor([[1.0, 2.0], [-1.0, 1.0], [0.0, 0.0], [1.0, -3.0], [2.0, 1.0], [-3.0, 2.0]])
    torch.testing.assert_close(*_gradients(cancelling.double()))


def test_the_gradient_agrees_with_finite_differences():
    features, weight, bag, word = _inputs()
    inputs = [features.requires_grad_(), weight.requires_grad_()]
    word_log_probability(*inputs, bag, word, Workspace()).sum().backward()
    for tensor in inputs:
        flat, gradient = tensor.data.view(-1), tensor.grad.view(-1)
        for i in range(len(flat)):
            values = []
            for step in (1e-6, -2e-6):
                flat[i] += step
                values.append(word_log_probability(*inputs, bag, word, Workspace()).sum().item())
            flat[i] += 1e-6
            assert abs((values[0] - values[1]) / 2e-6 - float(gradient[i])) < 1e-6


def test_a_second_use_of_the_workspace_before_the_backward_pass_is_caught():
    features, weight, bag, word = _inputs()
    workspace = Workspace()
    value = word_log_probability(features.requires_grad_(), weight, bag, word, workspace)
    word_log_probability(features, weight, bag, word, workspace)
    with pytest.raises(AssertionError, match="used again"):
        value.sum().backward()


def test_logits_too_large_or_too_small_to_exponentiate_do_no_harm():
    features, weight, bag, word = _inputs(dtype=torch.float32)
    expected = word_log_probability(features, weight, bag, word, Workspace())
    for shift in (-200.0, 200.0):
        moved = weight.clone()
        moved[-1] += shift
        value = word_log_probability(features.requires_grad_(), moved, bag, word, Workspace())
        torch.testing.assert_close(value, expected, atol=1e-4, rtol=1e-4)
        value.sum().backward()
        assert torch.isfinite(features.grad).all()


def test_a_workspace_is_reused_and_grows_when_it_must():
    workspace = Workspace()
    first = workspace.take(4, 5, like=torch.zeros(1))
    assert workspace.take(2, 5, like=torch.zeros(1)).data_ptr() == first.data_ptr()
    assert workspace.take(9, 5, like=torch.zeros(1)).shape == (9, 5)
