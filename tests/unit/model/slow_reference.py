"""KLDA written straight from the equations: plain loops, nothing shared with the product.

Conventions. A document is a list of word ids, one for each token, repetitions included. `z` or `y` is a
vector of length Q; `keyword_words[j]` are the word ids that keyword j takes out of a document in training
(for a single word: one id). `phi` has one row for each token of the document; rows of tokens that a keyword
took out are never read. All logarithms are natural, all results floats or float64 arrays. Meant for Q ≤ 12
and a handful of tokens.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

Array = NDArray[np.float64]

# --- keyword prior --------------------------------------------------------------------------------


def states(n_keywords: int, *, allow_empty: bool = False) -> list[tuple[int, ...]]:
    """Every z in {0,1}^Q, without 0 unless it is allowed."""
    return [z for z in itertools.product((0, 1), repeat=n_keywords) if allow_empty or any(z)]


def keyword_energy(z: Sequence[float] | Array, theta: Array, penalty: float) -> float:
    """log p̃_kw(z) = zᵀθ − c (1ᵀz − 1)."""
    total = 0.0
    for j in range(len(theta)):
        total += z[j] * theta[j]
    return float(total - penalty * (sum(z) - 1))


def log_partition(theta: Array, penalty: float, *, allow_empty: bool = False) -> float:
    """log Z(θ) by summing p̃ over every state."""
    energies = [keyword_energy(z, theta, penalty) for z in states(len(theta), allow_empty=allow_empty)]
    top = max(energies)
    return top + math.log(sum(math.exp(e - top) for e in energies))


def keyword_log_probability(
    z: Sequence[float] | Array, theta: Array, penalty: float, *, allow_empty: bool = False
) -> float:
    """log p_kw(z | θ)."""
    return keyword_energy(z, theta, penalty) - log_partition(theta, penalty, allow_empty=allow_empty)


# --- networks -------------------------------------------------------------------------------------


def g(z: Sequence[float] | Array, layers: Sequence[tuple[Array, Array]], n_topics: int, slope: float = 0.01) -> Array:
    """The topic-word matrix (K, V) of a keyword vector: a LeakyReLU network with a softmax over words in
    each row.

    `layers` are (weight, bias) with weight (out, in) as in `torch.nn.Linear`: Q → 32 → 32 → K·V, the last
    one linear; output k·V + v is topic k, word v.
    """
    hidden = [float(value) for value in z]
    for depth, (weight, bias) in enumerate(layers):
        out = []
        for row in range(weight.shape[0]):
            value = float(bias[row])
            for column in range(weight.shape[1]):
                value += float(weight[row, column]) * hidden[column]
            if depth < len(layers) - 1 and value < 0:
                value *= slope
            out.append(value)
        hidden = out
    n_words = len(hidden) // n_topics
    matrix = np.zeros((n_topics, n_words))
    for k in range(n_topics):
        row_scores = hidden[k * n_words : (k + 1) * n_words]
        top = max(row_scores)
        exponentials = [math.exp(score - top) for score in row_scores]
        for v in range(n_words):
            matrix[k, v] = exponentials[v] / sum(exponentials)
    return matrix


# --- E-step ---------------------------------------------------------------------------------------


def is_keyword_token(
    word: int, y: Sequence[float] | Array, keyword_words: Sequence[Collection[int]], threshold: float = 0.5
) -> bool:
    """Whether the word was already generated as a keyword: it belongs to some j with y_j > h."""
    return any(y[j] > threshold and word in keyword_words[j] for j in range(len(y)))


def expected_log_weights(gamma: Array) -> Array:
    """E_q[log η_k] = Ψ(γ_k) − Ψ(Σ γ). # (K,)"""
    return np.array([digamma(gamma[k]) - digamma(sum(gamma)) for k in range(len(gamma))])


def e_step(
    tokens: Sequence[int],
    y: Sequence[float] | Array,
    keyword_words: Sequence[Collection[int]],
    topic_word: Array,
    topic_prior: Array,
    iterations: int,
    *,
    gamma: Array | None = None,
    threshold: float = 0.5,
) -> tuple[Array, Array]:
    """(φ, γ) after so many rounds of: φ from γ, then γ from φ. φ is (N, K), zero for keyword tokens; γ is
    (K,).

    γ starts at prior + (remaining tokens)/K unless given.
    """
    n_topics = len(topic_prior)
    remaining = [n for n, w in enumerate(tokens) if not is_keyword_token(w, y, keyword_words, threshold)]
    if gamma is None:
        gamma = np.array([topic_prior[k] + len(remaining) / n_topics for k in range(n_topics)])
    phi = np.zeros((len(tokens), n_topics))
    for _ in range(iterations):
        log_weights = expected_log_weights(gamma)
        for n in remaining:
            scores = [topic_word[k, tokens[n]] * math.exp(log_weights[k]) for k in range(n_topics)]
            for k in range(n_topics):
                phi[n, k] = scores[k] / sum(scores)
        gamma = np.array([topic_prior[k] + sum(phi[n, k] for n in remaining) for k in range(n_topics)])
    return phi, gamma


# --- the seven terms of the estimator -------------------------------------------------------------


@dataclass(frozen=True)
class DocumentState:
    """One document of a batch with its variational parameters and what the networks say about it."""

    tokens: Sequence[int]
    observed: Sequence[int]
    """Candidates that occur in the document: the mask."""
    y: Array  # (Q,)  zero outside `observed`
    epsilon: Array  # (Q,)  read only at `observed`
    topic_prior: Array  # (K,)  f(y)
    topic_word: Array  # (K, V)  g(y)
    phi: Array  # (N, K)
    gamma: Array  # (K,)


def h_tilde(u: Array, v: Array) -> float:
    """E of log Dirichlet(η | v) when η follows Dirichlet(u)."""
    total = math.lgamma(sum(v))
    for i in range(len(v)):
        total += (v[i] - 1) * (digamma(u[i]) - digamma(sum(u))) - math.lgamma(v[i])
    return float(total)


def document_terms(
    document: DocumentState,
    theta: Array,
    penalty: float,
    keyword_words: Sequence[Collection[int]],
    *,
    allow_empty: bool = True,
    threshold: float = 0.5,
) -> dict[str, float]:
    """The seven terms of one document, unweighted, each with the sign it has in the bound.

    keyword_prior      +log p_kw(y | θ)
    topic_prior        +E_q log p(η | f)
    topic_labels       +Σ_w E_q log p(z_w | η)
    words              +Σ_w Σ_k φ log β
    keyword_posterior  −log q(y | ε), over the observed candidates
    topic_posterior    −E_q log q(η | γ)
    label_posterior    −Σ_w Σ_k φ log φ
    """
    log_weights = expected_log_weights(document.gamma)
    labels = words = label_posterior = 0.0
    for n, word in enumerate(document.tokens):
        if is_keyword_token(word, document.y, keyword_words, threshold):
            continue
        for k in range(len(document.gamma)):
            share = float(document.phi[n, k])
            labels += share * float(log_weights[k])
            words += share * math.log(document.topic_word[k, word])
            label_posterior -= share * math.log(share) if share > 0 else 0.0
    keyword_posterior = 0.0
    for j in document.observed:
        keyword_posterior -= document.y[j] * math.log(document.epsilon[j])
        keyword_posterior -= (1 - document.y[j]) * math.log(1 - document.epsilon[j])
    return {
        "keyword_prior": keyword_log_probability(document.y, theta, penalty, allow_empty=allow_empty),
        "topic_prior": h_tilde(document.gamma, document.topic_prior),
        "topic_labels": labels,
        "words": words,
        "keyword_posterior": float(keyword_posterior),
        "topic_posterior": -h_tilde(document.gamma, document.gamma),
        "label_posterior": label_posterior,
    }


WORD_TERMS = ("topic_labels", "words", "label_posterior")


def estimator(
    batch: Sequence[DocumentState],
    theta: Array,
    penalty: float,
    keyword_words: Sequence[Collection[int]],
    *,
    n_documents: int,
    word_total: int,
    allow_empty: bool = True,
    threshold: float = 0.5,
) -> dict[str, float]:
    """The seven weighted terms of L̂ for a batch; their sum is L̂.

    Document terms weigh D/B. Word terms weigh word_total/N_B, N_B being all tokens of the batch, keywords
    included: word_total is the number of tokens in the corpus (unbiased), or the vocabulary size (the
    paper's letter).
    """
    tokens_in_batch = sum(len(document.tokens) for document in batch)
    total: dict[str, float] = {}
    for document in batch:
        terms = document_terms(document, theta, penalty, keyword_words, allow_empty=allow_empty, threshold=threshold)
        for name, value in terms.items():
            weight = word_total / tokens_in_batch if name in WORD_TERMS else n_documents / len(batch)
            total[name] = total.get(name, 0.0) + weight * value
    return total
