from __future__ import annotations

import numpy as np
import torch

from klda.model.networks import FixedTopicPrior, KeywordBags, TopicPriorNetwork, TopicWordNetwork
from tests.unit.model import slow_reference


def _network() -> TopicWordNetwork:
    generator = torch.Generator().manual_seed(0)
    return TopicWordNetwork(5, 3, 11, hidden=(6, 4), generator=generator).double()


def _layers(network: TopicWordNetwork) -> list[tuple[np.ndarray, np.ndarray]]:
    layers = network.layers
    dense = [p.detach().numpy() for p in layers.dense]
    output = network.output.detach().numpy()
    return [
        (layers.keyword.detach().numpy().T, layers.bias.detach().numpy()),
        *((weight.T, bias) for weight, bias in zip(dense[::2], dense[1::2], strict=True)),
        (output[:-1].reshape(len(output) - 1, -1).T, output[-1].reshape(-1)),
    ]


def test_the_network_is_the_papers_written_out_in_full():
    network = _network()
    for keywords in ([0], [1, 4], [0, 1, 2, 3, 4], []):
        z = [1.0 if j in keywords else 0.0 for j in range(5)]
        slow = slow_reference.g(z, _layers(network), 3)
        fast = network.log_distribution(KeywordBags.of([keywords])).exp()[0]
        np.testing.assert_allclose(fast.detach().numpy(), slow, rtol=1e-10)


def test_relaxed_keywords_enter_with_their_value():
    network = _network()
    bags = KeywordBags(torch.tensor([1, 4]), torch.tensor([0]), torch.tensor([0.3, 0.8], dtype=torch.float64))
    slow = slow_reference.g([0, 0.3, 0, 0, 0.8], _layers(network), 3)
    np.testing.assert_allclose(network.log_distribution(bags).exp()[0].detach().numpy(), slow, rtol=1e-10)


def test_words_picked_out_equal_the_full_distribution():
    network = _network()
    bags = KeywordBags.of([[0], [2, 3]])
    bag, word = torch.tensor([0, 1, 1]), torch.tensor([4, 4, 10])
    picked = network.word_log_probability(bags, bag, word)
    torch.testing.assert_close(picked, network.log_distribution(bags)[bag, :, word])


def test_rows_sum_to_one():
    total = _network().log_distribution(KeywordBags.of([[0], [1, 2]])).exp().sum(-1)
    torch.testing.assert_close(total, torch.ones_like(total))


def test_the_bias_can_start_at_the_unigram():
    unigram = torch.tensor([0.5, 0.3, 0.2])
    network = TopicWordNetwork(2, 2, 3, word_bias=unigram.log(), generator=torch.Generator().manual_seed(0))
    network.output.data[:-1] = 0
    torch.testing.assert_close(network.log_distribution(KeywordBags.of([[0]])).exp()[0], unigram.expand(2, 3))


def test_the_penalty_bears_on_weights_and_not_on_biases():
    network = _network()
    n_weights = sum(parameter.detach()[:rows].numel() for parameter, rows in network.penalised())
    assert n_weights == 5 * 6 + 6 * 4 + 4 * 3 * 11


def test_a_fixed_prior_is_one_and_a_parametric_one_is_positive():
    bags = KeywordBags.of([[0], [1, 2]])
    assert (FixedTopicPrior(3)(bags) == 1).all()
    assert not list(FixedTopicPrior(3).parameters())
    prior = TopicPriorNetwork(5, 3, generator=torch.Generator().manual_seed(0))
    assert prior(bags).shape == (2, 3)
    assert (prior(bags) > 0).all()
    assert not torch.equal(prior(bags)[0], prior(bags)[1])
