"""Algorithm 1 of the paper, written plainly but fairly: what the product's speed is measured against.

Vectorised over the batch, stock optimisers, a dense D × Q matrix of ε, single-coordinate Gibbs sampling on 100
chains, a log-softmax over the vocabulary for every document of the batch. It shares no code with the product. Where
the paper is silent or contradicts itself it does what the product can do too: ε is a logit that starts at 0.5, θ starts
at the log frequency, K_E is 20 or until γ moves less than 1e-4, word terms are weighed by tokens, and the loss is
divided by the number of tokens together with its penalties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

Ints = NDArray[np.integer]

PENALTY, L2, NEGATIVE_WEIGHT, THRESHOLD = 2.0, 0.1, 0.1, 0.5
LEARNING_RATE, KEYWORD_LEARNING_RATE = 0.001, 0.005
N_CHAINS, E_STEPS, E_TOLERANCE = 100, 20, 1e-4


@dataclass(frozen=True)
class Documents:
    """Token counts in CSR form, and the candidates that occur in each document, ragged."""

    indptr: Ints  # (D + 1,)
    words: Ints  # (nnz,)
    counts: Ints  # (nnz,)
    observed_indptr: Ints  # (D + 1,)
    observed: Ints  # (pairs,)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_tokens(self) -> int:
        """Tokens in all documents."""
        return int(self.counts.sum(dtype=np.int64))


class Reference:
    """KLDA trained by Algorithm 1; one call of a step is one iteration.

    `keyword_words[j]` are the words that keyword j takes out of a document.
    """

    def __init__(
        self,
        documents: Documents,
        keyword_words: list[list[int]],
        n_words: int,
        *,
        n_topics: int = 5,
        batch_size: int = 64,
        seed: int = 0,
    ) -> None:
        self.documents, self.n_topics, self.n_words, self.batch_size = documents, n_topics, n_words, batch_size
        self.generator = torch.Generator().manual_seed(seed)
        self.iteration = 0
        n_keywords = len(keyword_words)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.g = nn.Sequential(
                nn.Linear(n_keywords, 32),
                nn.LeakyReLU(0.01),
                nn.Linear(32, 32),
                nn.LeakyReLU(0.01),
                nn.Linear(32, n_topics * n_words),
            )
        self.covers = torch.zeros(n_words, n_keywords, dtype=torch.bool)
        for j, words in enumerate(keyword_words):
            self.covers[words, j] = True
        frequency = np.bincount(documents.observed, minlength=n_keywords) + 1e-6
        self.empirical = torch.from_numpy(frequency / frequency.sum()).float()  # (Q,)
        self.theta = nn.Parameter(torch.from_numpy(np.log(frequency / len(documents))).float())
        self.epsilon = nn.Parameter(torch.zeros(len(documents), n_keywords))  # logits
        self.chains = torch.rand(N_CHAINS, n_keywords, generator=self.generator) < 0.5
        self.adam = torch.optim.Adam([*self.g.parameters(), self.theta], lr=LEARNING_RATE)
        self.rmsprop = torch.optim.RMSprop([self.epsilon], lr=KEYWORD_LEARNING_RATE)

    def pretrain_step(self) -> float:
        """One iteration with the observed keywords as z; gives the batch's bound a token."""
        index = self._sample_batch()
        words, counts, observed = pad(self.documents, index, len(self.theta))
        bound = self._document_bound(observed, words, counts, self._scales(counts))
        loss = self._l2() - bound / self.documents.n_tokens
        self._update(loss, [self.adam])
        return float(bound.detach()) / self.documents.n_tokens

    def full_step(self) -> float:
        """One iteration of Algorithm 1; gives the batch's bound a token, without the constant log Z."""
        self.iteration += 1
        self._gibbs(1000 if self.iteration % 100 == 0 else 1)
        index = self._sample_batch()
        words, counts, observed = pad(self.documents, index, len(self.theta))
        logits = self.epsilon[torch.from_numpy(index)]  # (B, Q)
        y = self._gumbel(logits) * observed
        scales = self._scales(counts)
        bound = self._document_bound(y, words, counts, scales)

        positive = energy(y, self.theta).sum()
        negative = len(index) * energy(self.chains.float(), self.theta).mean()
        log_q = observed * (y * logsigmoid(logits) + (1 - y) * logsigmoid(-logits))
        keywords = scales[0] * (positive - NEGATIVE_WEIGHT * negative - log_q.sum())
        mismatch = (torch.softmax(self.theta, 0) - self.empirical).square().sum()

        loss = self._l2() + (mismatch - bound - keywords) / self.documents.n_tokens
        self._update(loss, [self.adam, self.rmsprop])
        return float((bound + keywords).detach()) / self.documents.n_tokens

    @torch.no_grad()
    def heldout_bound(self, documents: Documents) -> float:
        """The bound a token on documents that were not trained on, given their keywords.

        z is the set of candidates observed in the document, all of whose words are taken out of it. The bound is
        E log p(η) + Σ_w E log p(z_w | η) + Σ_w Σ_k φ log β − E log q(η) − Σ_w E log q(z_w) over the words that remain,
        at the γ and φ that the E-step reaches from γ = 1 + n/K; log p_kw is left out. The sum over documents is divided
        by all their tokens, those taken out included.
        """
        total = 0.0
        for start in range(0, len(documents), 256):
            index = np.arange(start, min(start + 256, len(documents)))
            words, counts, observed = pad(documents, index, len(self.theta))
            total += float(self._document_bound(observed, words, counts, (1.0, 1.0)))
        return total / documents.n_tokens

    def _document_bound(self, y: Tensor, words: Tensor, counts: Tensor, scales: tuple[float, float]) -> Tensor:
        """The terms of topics and words, summed over the batch, weighed for documents and for words."""
        taken = (self.covers[words] & (y > THRESHOLD)[:, None, :]).any(-1)  # (B, N)
        counts = counts * ~taken
        log_beta = torch.log_softmax(self.g(y).view(len(y), self.n_topics, self.n_words), -1)  # (B, K, V)
        at_words = words[:, None, :].expand(-1, self.n_topics, -1)
        word_log_beta = log_beta.gather(2, at_words).transpose(1, 2)  # (B, N, K)
        gamma, phi = e_step(word_log_beta.detach(), counts)
        log_eta = torch.digamma(gamma) - torch.digamma(gamma.sum(1, keepdim=True))  # (B, K)
        of_documents = math.lgamma(self.n_topics) * len(y) - expected_log_dirichlet(gamma, log_eta).sum()
        log_phi = torch.log(phi.clamp_min(1e-30))
        of_words = (counts[..., None] * phi * (log_eta[:, None, :] + word_log_beta - log_phi)).sum()
        return scales[0] * of_documents + scales[1] * of_words

    def _scales(self, counts: Tensor) -> tuple[float, float]:
        """D / B and N / N_B."""
        return len(self.documents) / len(counts), self.documents.n_tokens / float(counts.sum())

    def _l2(self) -> Tensor:
        weights = [p.square().sum() for name, p in self.g.named_parameters() if name.endswith("weight")]
        return L2 * torch.stack(weights).sum() / self.documents.n_tokens

    def _update(self, loss: Tensor, optimisers: list[torch.optim.Optimizer]) -> None:
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimiser in optimisers:
            optimiser.step()

    def _sample_batch(self) -> Ints:
        return torch.randint(len(self.documents), (self.batch_size,), generator=self.generator).numpy()

    def _gumbel(self, logits: Tensor) -> Tensor:
        """Relaxed Bernoulli draws from two Gumbel variables each. # (B, Q)"""
        temperature = max(0.25, math.exp(-0.0001 * self.iteration))
        uniform = torch.rand(2, *logits.shape, generator=self.generator).clamp_(1e-20, 1 - 1e-7)
        gumbel = -torch.log(-torch.log(uniform))
        return torch.sigmoid((logsigmoid(logits) - logsigmoid(-logits) + gumbel[0] - gumbel[1]) / temperature)

    @torch.no_grad()
    def _gibbs(self, steps: int) -> None:
        """Redraws one random coordinate of every chain, so many times; the empty state is allowed."""
        rate = torch.sigmoid(self.theta - PENALTY)
        chain = torch.arange(N_CHAINS)
        for _ in range(steps):
            coordinate = torch.randint(len(rate), (N_CHAINS,), generator=self.generator)
            self.chains[chain, coordinate] = torch.rand(N_CHAINS, generator=self.generator) < rate[coordinate]


def energy(z: Tensor, theta: Tensor) -> Tensor:
    """log p̃_kw. # (n, Q) → (n,)"""
    return z @ theta - PENALTY * (z.sum(1) - 1)


def expected_log_dirichlet(gamma: Tensor, log_eta: Tensor) -> Tensor:
    """E log q(η | γ). # (B, K) → (B,)"""
    return torch.lgamma(gamma.sum(1)) - torch.lgamma(gamma).sum(1) + ((gamma - 1) * log_eta).sum(1)


@torch.no_grad()
def e_step(word_log_beta: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """γ and φ for f = 1. # (B, N, K), (B, N) → (B, K), (B, N, K)"""
    n_topics = word_log_beta.shape[2]
    gamma = 1 + counts.sum(1, keepdim=True).expand(-1, n_topics) / n_topics  # (B, K)
    phi = torch.softmax(word_log_beta, 2)
    for _ in range(E_STEPS):
        log_eta = torch.digamma(gamma) - torch.digamma(gamma.sum(1, keepdim=True))
        phi = torch.softmax(word_log_beta + log_eta[:, None, :], 2)
        updated = 1 + (counts[..., None] * phi).sum(1)
        change = float((updated - gamma).abs().mean())
        gamma = updated
        if change < E_TOLERANCE:
            break
    return gamma, phi


def pad(documents: Documents, index: Ints, n_keywords: int) -> tuple[Tensor, Tensor, Tensor]:
    """Padded words and counts of a batch, and its observed keywords. # (B, N), (B, N), (B, Q)"""
    lengths = (documents.indptr[1:] - documents.indptr[:-1])[index]
    column = np.arange(max(int(lengths.max(initial=0)), 1))
    inside = column < lengths[:, None]  # (B, N)
    place = np.where(inside, documents.indptr[index][:, None] + column, 0)
    words = torch.from_numpy(documents.words[place].astype(np.int64))
    counts = torch.from_numpy((documents.counts[place] * inside).astype(np.float32))
    n_observed = (documents.observed_indptr[1:] - documents.observed_indptr[:-1])[index]
    column = np.arange(max(int(n_observed.max(initial=0)), 1))
    row, nth = np.nonzero(column < n_observed[:, None])
    observed = torch.zeros(len(index), n_keywords)
    observed[torch.from_numpy(row), documents.observed[documents.observed_indptr[index][row] + nth]] = 1.0
    return words, counts, observed
