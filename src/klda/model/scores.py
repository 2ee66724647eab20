"""How well a model explains documents: held-out bound, log-likelihood per word, document completion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from klda.model.bags import Floats
from klda.model.batches import Batch, make_batch
from klda.model.data import TrainingData
from klda.model.keyword_sets import Choice, Rows, all_observed, enumerate_rows
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags, TopicWord
from klda.model.objective import Explanation, Parameters, explain, row_keyword_log_probability, row_terms
from klda.model.vocabulary_softmax import sets_at_once
from klda.model.workers import ALONE, Workers, total
from klda.text.documents import Ints

CHUNK = 256
"""Documents that are scored together. `sets_at_once` limits how many of their keyword sets are in memory."""


def chunks(data: TrainingData) -> Iterator[Batch]:
    """The documents in batches, all of them, in order."""
    for start in range(0, len(data), CHUNK):
        yield make_batch(data, np.arange(start, min(start + CHUNK, len(data))))


def leading_pairs(batch: Batch, limit: int) -> Choice:
    """Enumerates the first `limit` observed candidates of each document; the others are keywords throughout.

    Sets that are left out can only lower a sum over keyword sets, so it stays a lower bound.
    """
    rank: Ints = np.arange(len(batch.pair)) - np.repeat(batch.pair_start[:-1], np.diff(batch.pair_start))
    return Choice(np.where(rank < limit, rank, -1), rank >= limit)


def _thorough(settings: ModelSettings) -> ModelSettings:
    """The same settings with E-steps that go to their end."""
    tolerance = min(settings.expectation_tolerance, 1e-4)
    return replace(settings, expectation_iterations=100, expectation_tolerance=tolerance)


def log_sum_rows(value: Tensor, document: Tensor, n_documents: int) -> Tensor:
    """log Σ exp over the rows of each document. # (R,) → (B,)"""
    top = value.new_full((n_documents,), -torch.inf).scatter_reduce(0, document, value, "amax")
    total = torch.zeros_like(top).index_add_(0, document, torch.exp(value - top[document]))
    return top + total.log()


@torch.no_grad()
def held_out_bound(
    parameters: Parameters,
    data: TrainingData,
    settings: ModelSettings,
    *,
    observed_only: bool = False,
    workers: Workers = ALONE,
) -> float:
    """The bound a token on documents that were not trained on.

    The best q(keywords) has a closed form; under it the bound is log Σ over keyword sets of e^(bound given the set).
    With `observed_only` the keywords are those observed, and their own probability is left out, as in pre-training.
    Several workers, which all hold these documents, take turns.
    """
    mine = 0.0
    for batch in islice(chunks(data), workers.rank, None, workers.size):
        rows, value = batch_bounds(parameters, batch, settings, observed_only=observed_only)
        mine += float(log_sum_rows(value, rows.document, len(batch)).sum(dtype=torch.float64))
    return total(workers, mine) / float(data.lengths.sum())


@torch.no_grad()
def printed_bound(parameters: Parameters, data: TrainingData, settings: ModelSettings) -> float:
    """The held-out bound a token at the end of the E-steps, for a model that is judged rather than trained."""
    return held_out_bound(parameters, data, _thorough(settings))


@torch.no_grad()
def batch_bounds(
    parameters: Parameters, batch: Batch, settings: ModelSettings, *, observed_only: bool
) -> tuple[Rows, Tensor]:
    """The rows of a batch and the bound of each, without the entropy of the keywords. # (R,)"""
    device = parameters.theta.device
    choice = all_observed(batch) if observed_only else leading_pairs(batch, settings.enumeration_limit)
    rows = enumerate_rows(batch, choice, allow_empty=settings.allow_empty or observed_only, device=device)
    nothing = torch.zeros(len(rows), device=device)
    log_prior = nothing if observed_only else row_keyword_log_probability(parameters.theta, rows, batch, settings)
    terms = row_terms(parameters, rows, settings, keyword_log_probability=log_prior, keyword_log_density=nothing)
    return rows, terms.total()


@torch.no_grad()
def document_log_likelihood(
    parameters: Parameters, data: TrainingData, settings: ModelSettings, word_frequency: Floats
) -> Floats:
    """A lower bound on the log probability of each document, as a sequence of its tokens. # (D,)

    Each keyword of z stands at one place, drawn evenly from those still free; the topics generate the other tokens. So
    for N tokens, n of them keywords, keyword j occurring m_j times, a keyword set adds
    log p_kw(z) − log(N! / (N − n)!) + Σ_j log m_j + bound of the other N − n tokens, and the sets are summed over.
    A keyword that covers several words takes the one that the document has most of, at that word's share of the
    keyword's words; one that was matched in the text but is no token takes none; two that one token carries share it.
    """
    # The empty set is no document here, however the model was trained.
    exact = replace(_thorough(settings), relaxation="exact")
    scores = []
    for batch in chunks(data):
        choice = leading_pairs(batch, settings.enumeration_limit)
        rows = enumerate_rows(batch, choice, allow_empty=False, device=parameters.theta.device, take_out=False)
        left, placed = _take_one_each(rows, batch, data, word_frequency)
        log_prior = row_keyword_log_probability(parameters.theta, rows, batch, exact)
        terms = row_terms(
            parameters,
            replace(rows, counts=left),
            exact,
            keyword_log_probability=log_prior + placed,
            keyword_log_density=torch.zeros_like(log_prior),
        )
        scores.append(log_sum_rows(terms.total(), rows.document, len(batch)).double().cpu().numpy())
    return np.concatenate(scores) if scores else np.zeros(0)


def _take_one_each(rows: Rows, batch: Batch, data: TrainingData, word_frequency: Floats) -> tuple[Tensor, Tensor]:
    """The counts after each keyword took one token, and the log number of ways to take them. # (T,), (R,)"""
    n_cover = np.diff(batch.cover_start)
    cover_pair = np.repeat(np.arange(len(batch.pair)), n_cover)
    most = np.lexsort((batch.cover_token, -batch.counts[batch.cover_token], cover_pair))
    found = np.flatnonzero(n_cover)
    taken = np.full(len(batch.pair), -1)
    taken[found] = batch.cover_token[most[batch.cover_start[found]]]  # the entry that each pair takes from

    weight = word_frequency + 0.5
    of_keyword = np.add.reduceat(np.append(weight[data.keyword_words.values], 0.0), data.keyword_words.indptr[:-1]) * (
        data.keyword_words.lengths > 0
    )
    share = np.ones(len(batch.pair))
    share[found] = weight[batch.words[taken[found]]] / of_keyword[batch.pair_keyword[found]]

    device = rows.counts.device
    member = rows.member_pair.cpu().numpy()
    member_row = rows.member_row.cpu().numpy()
    document = rows.document.cpu().numpy()
    takes_one = taken[member] >= 0
    n_tokens = np.diff(batch.token_start)[document]
    shift = np.concatenate([[0], np.cumsum(n_tokens)[:-1]]) - batch.token_start[document]
    place = (taken[member] + shift[member_row])[takes_one]
    # One token may carry two keywords, as #washyourhands does: those beyond a word's occurrences share a place.
    takes = np.minimum(np.bincount(place, minlength=len(rows.token)), rows.counts.cpu().numpy())
    n_taken = np.bincount(rows.token_row.cpu().numpy(), weights=takes, minlength=len(document))
    log_share = np.bincount(member_row, weights=np.log(share[member]), minlength=len(document))

    counts = rows.counts.double()
    left = counts - torch.from_numpy(takes).to(device)
    ways = torch.lgamma(counts + 1) - torch.lgamma(left + 1)
    length = torch.from_numpy(batch.lengths[document].astype(np.float64)).to(device)
    free_places = torch.lgamma(length + 1) - torch.lgamma(length - torch.from_numpy(n_taken).to(device) + 1)
    placed = torch.from_numpy(log_share).to(device) - free_places
    placed = placed.index_add(0, rows.token_row, ways)
    return left.float(), placed.float()


@torch.no_grad()
def topic_shares(parameters: Parameters, data: TrainingData, settings: ModelSettings) -> Floats:
    """The expected topic weights of each document, over its keyword sets as they explain it. # (D, K)"""
    shares = []
    for batch in chunks(data):
        rows, value, explanation = _explained(parameters, batch, settings, None)
        gamma = explanation.gamma
        weight = torch.exp(value - log_sum_rows(value, rows.document, len(batch))[rows.document])
        mean = gamma / gamma.sum(1, keepdim=True) * weight[:, None]
        shares.append(mean.new_zeros(len(batch), mean.shape[1]).index_add_(0, rows.document, mean))
    if not shares:
        return np.zeros((0, settings.n_topics))
    return torch.cat(shares).double().cpu().numpy()


def completion_targets(data: TrainingData, generator: np.random.Generator) -> Floats:
    """How many of each entry's tokens are to be predicted: about half; none of a word that a candidate covers. # (nnz,)

    So models which are told a document's keywords and those which are not predict the same tokens.
    """
    target = generator.binomial(data.counts, 0.5).astype(np.float64)
    target[~may_be_hidden(data)[data.words]] = 0
    return target


def may_be_hidden(data: TrainingData) -> NDArray[np.bool_]:
    """Whether completion may hide each word: only words that no candidate covers. # (V,)"""
    hidden = np.ones(data.n_words, dtype=np.bool_)
    hidden[data.keyword_words.values] = False
    return hidden


@torch.no_grad()
def completion(
    parameters: Parameters, data: TrainingData, settings: ModelSettings, target: Floats
) -> tuple[float, float]:
    """The log predictive probability of the target tokens given the others, and the number of target tokens.

    The keyword sets are weighed by how well they explain the observed part; each then predicts with its own topics,
    among the words that may be hidden. So it is no advantage to know that candidates are never hidden.
    """
    total = n_targets = 0.0
    possible = torch.from_numpy(may_be_hidden(data)).to(parameters.theta.device)
    for batch in chunks(data):
        first = data.indptr[batch.documents[0]]
        of_batch = torch.from_numpy(target[first : first + len(batch.words)]).float().to(parameters.theta.device)
        rows, value, explanation = _explained(parameters, batch, settings, of_batch)
        gamma = explanation.gamma
        weight = value - log_sum_rows(value, rows.document, len(batch))[rows.document]  # (R,)  log
        log_topic = torch.log(gamma / gamma.sum(1, keepdim=True))
        of_row = torch.logsumexp(explanation.log_beta + log_topic[rows.token_row], 1) + weight[rows.token_row]  # (T,)
        predicted = log_sum_rows(of_row, rows.token, len(batch.words))  # (n,)
        log_mass = _log_mass(parameters.topic_word, rows.bags, possible, settings)  # (S, K)
        mass_of_row = torch.logsumexp(log_mass[rows.bag] + log_topic, 1) + weight  # (R,)
        mass = log_sum_rows(mass_of_row, rows.document, len(batch))  # (B,)
        predicted = predicted - mass[torch.from_numpy(batch.token_document).to(mass.device)]
        wanted = of_batch > 0
        total += float((predicted[wanted] * of_batch[wanted]).sum(dtype=torch.float64))
        n_targets += float(of_batch.sum(dtype=torch.float64))
    return total, n_targets


def _log_mass(topic_word: TopicWord, bags: KeywordBags, words: Tensor, settings: ModelSettings) -> Tensor:
    """log of the total probability of these words in each topic, under each keyword set. # (V,) → (S, K)"""
    pieces = bags.pieces(sets_at_once(settings.n_topics, len(words)))
    return torch.cat([topic_word.log_distribution(some)[..., words].logsumexp(-1) for some in pieces])


def _explained(
    parameters: Parameters, batch: Batch, settings: ModelSettings, target: Tensor | None
) -> tuple[Rows, Tensor, Explanation]:
    """Rows of all keyword sets, their bound, and their explanation; target tokens are kept out of sight."""
    rows = enumerate_rows(
        batch,
        leading_pairs(batch, settings.enumeration_limit),
        allow_empty=settings.allow_empty,
        device=parameters.theta.device,
    )
    if target is not None:
        rows = replace(rows, counts=rows.counts - target[rows.token])
    explanation = explain(parameters, rows, _thorough(settings))
    log_prior = row_keyword_log_probability(parameters.theta, rows, batch, settings)
    value = explanation.terms(
        rows, keyword_log_probability=log_prior, keyword_log_density=torch.zeros_like(log_prior)
    ).total()
    return rows, value, explanation
