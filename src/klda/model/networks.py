"""The two maps from keywords: g to topic-word matrices, f to the Dirichlet prior of topic weights.

Both are behind protocols, so that others plug in. Keyword vectors come as bags (which keywords, with which value), not
as (rows, Q) arrays: the first layer is linear, so it sums the keywords' own vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from klda.model.vocabulary_softmax import Workspace, word_log_probability

SLOPE = 0.01
"""LeakyReLU's slope below zero."""


@dataclass(frozen=True)
class KeywordBags:
    """Keyword sets end to end; `values` holds relaxed keywords, None when every value is 1."""

    keywords: Tensor  # (A,)
    start: Tensor  # (S,)
    values: Tensor | None = None  # (A,)

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(cls, sets: Sequence[Sequence[int]], device: torch.device | str = "cpu") -> KeywordBags:
        """These sets of keyword numbers.

        >>> KeywordBags.of([[3, 1], [], [2]]).start
        tensor([0, 2, 2])
        """
        flat = [keyword for one in sets for keyword in one]
        lengths = torch.tensor([0, *(len(one) for one in sets)], dtype=torch.long, device=device)
        return cls(torch.tensor(flat, dtype=torch.long, device=device), lengths.cumsum(0)[:-1])

    def pieces(self, size: int) -> Iterator[KeywordBags]:
        """The same sets in pieces of at most `size`.

        >>> [piece.keywords.tolist() for piece in KeywordBags.of([[3, 1], [], [2]]).pieces(2)]
        [[3, 1], [2]]
        """
        for first in range(0, len(self), size):
            start = self.start[first : first + size]
            end = self.start[first + size] if first + size < len(self) else len(self.keywords)
            members = slice(int(start[0]), int(end))
            values = None if self.values is None else self.values[members]
            yield KeywordBags(self.keywords[members], start - start[0], values)


class TopicWord(Protocol):
    """g: from keyword sets to one word distribution for each topic."""

    def word_log_probability(self, bags: KeywordBags, bag: Tensor, word: Tensor) -> Tensor:
        """log β at (bag, every topic, word); differentiable. # (T,), (T,) → (T, K)"""
        ...

    def log_distribution(self, bags: KeywordBags) -> Tensor:
        """log β in full. # (S, K, V)"""
        ...

    def penalised(self) -> list[tuple[nn.Parameter, int]]:
        """The parameters that the L2 penalty bears on, and how many leading rows of each: weights, not biases."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """All that is trained."""
        ...


class TopicPrior(Protocol):
    """f: from keyword sets to the Dirichlet prior of topic weights."""

    def __call__(self, bags: KeywordBags) -> Tensor:
        """Positive numbers. # (S, K)"""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """All that is trained; nothing when the prior is fixed."""
        ...


class KeywordLayers(nn.Module):
    """Keyword sets to features: a sum of keyword vectors, then dense layers, LeakyReLU after each. # → (S, F)"""

    def __init__(self, n_keywords: int, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__()
        first, *rest = hidden
        self.keyword = nn.Parameter(_uniform((n_keywords, first), n_keywords, generator))  # (Q, F)
        self.bias = nn.Parameter(_uniform((first,), n_keywords, generator))
        sizes = zip(hidden, rest, strict=False)
        self.dense = nn.ParameterList()
        for n_in, n_out in sizes:
            self.dense.append(nn.Parameter(_uniform((n_in, n_out), n_in, generator)))
            self.dense.append(nn.Parameter(_uniform((n_out,), n_in, generator)))

    def forward(self, bags: KeywordBags) -> Tensor:
        """The features of each keyword set. # (S, F)"""
        x = functional.embedding_bag(
            bags.keywords, self.keyword, bags.start, mode="sum", per_sample_weights=bags.values
        )
        x = functional.leaky_relu(x + self.bias, SLOPE)
        dense = list(self.dense)
        for weight, bias in zip(dense[::2], dense[1::2], strict=True):
            x = functional.leaky_relu(torch.addmm(bias, x, weight), SLOPE)
        return x

    def penalised(self) -> list[tuple[nn.Parameter, int]]:
        """The weights."""
        return [(weight, len(weight)) for weight in (self.keyword, *self.dense[::2])]


class TopicWordNetwork(nn.Module):
    """The paper's g: two hidden layers of 32, a linear layer to K · V, a softmax over the words of each topic.

    `output` holds the weights of the last layer and, as its last row, its bias: one product does for both.
    """

    def __init__(
        self,
        n_keywords: int,
        n_topics: int,
        n_words: int,
        *,
        hidden: Sequence[int] = (32, 32),
        word_bias: Tensor | None = None,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.layers = KeywordLayers(n_keywords, hidden, generator)
        n_features = hidden[-1]
        self.output = nn.Parameter(_uniform((n_features + 1, n_topics, n_words), n_features, generator))
        if word_bias is not None:
            self.output.data[-1] = word_bias
        self._workspace = Workspace()

    def word_log_probability(self, bags: KeywordBags, bag: Tensor, word: Tensor) -> Tensor:
        """log β at (bag, every topic, word); differentiable. # (T,), (T,) → (T, K)"""
        return word_log_probability(self.layers(bags), self.output, bag, word, self._workspace)

    def log_distribution(self, bags: KeywordBags) -> Tensor:
        """log β in full. # (S, K, V)"""
        return torch.log_softmax(torch.tensordot(self.layers(bags), self.output[:-1], 1) + self.output[-1], -1)

    def penalised(self) -> list[tuple[nn.Parameter, int]]:
        """The weights of all layers."""
        return [*self.layers.penalised(), (self.output, len(self.output) - 1)]


class FixedTopicPrior(nn.Module):
    """f ≡ 1: no topic is preferred."""

    def __init__(self, n_topics: int) -> None:
        super().__init__()
        self.n_topics = n_topics

    def forward(self, bags: KeywordBags) -> Tensor:
        """Ones. # (S, K)"""
        return torch.ones(len(bags), self.n_topics, device=bags.keywords.device)


class TopicPriorNetwork(nn.Module):
    """A parametric f: the layers of g, then softplus; it starts near 1.

    The paper saw it collapse to one topic. With a floor, no topic can be expected to weigh less than floor / K: what
    f says is mixed with its own mean, which leaves its sum free.
    """

    def __init__(
        self,
        n_keywords: int,
        n_topics: int,
        *,
        hidden: Sequence[int] = (32, 32),
        floor: float = 0.0,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.floor = floor
        self.layers = KeywordLayers(n_keywords, hidden, generator)
        self.weight = nn.Parameter(_uniform((hidden[-1], n_topics), hidden[-1], generator))
        self.bias = nn.Parameter(torch.full((n_topics,), 0.5413, device=generator.device))  # softplus⁻¹(1)

    def forward(self, bags: KeywordBags) -> Tensor:
        """Positive numbers. # (S, K)"""
        free = functional.softplus(torch.addmm(self.bias, self.layers(bags), self.weight)) + 1e-3
        return torch.lerp(free, free.mean(1, keepdim=True), self.floor)


def _uniform(shape: tuple[int, ...], n_in: int, generator: torch.Generator) -> Tensor:
    """Uniform on ±1/√n_in, as dense layers usually start."""
    bound = n_in**-0.5
    return torch.empty(shape, device=generator.device).uniform_(-bound, bound, generator=generator)
