"""What a list will bring, before it collects: the words and topics that KLDA expects of each keyword.

A model is trained only where something shows what it predicts, on a bounded number of recent posts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from klda.advice.word_counts import keyword_word_counts, recency, window_recency, word_counts
from klda.advice.word_distribution import from_counts
from klda.arrays import Floats, Ints
from klda.errors import DataError, TrainingError
from klda.text.corpus import Corpus
from klda.text.recode import most_frequent_vocabulary, recoded
from klda.types import Progress, silent

if TYPE_CHECKING:
    from klda.model.klda import KLDA

Fit = Callable[["KLDA", Corpus, Progress], "KLDA"]

N_TOPICS, ITERATIONS, N_WORDS = 5, 100, 2500
RECENT = 4
"""Windows that a model is trained on, if they hold enough posts; otherwise all windows."""
ENOUGH_POSTS = 3000
"""Recent posts with a keyword of either list that are enough. Titles of a few words make poor topics below that."""
MOST_POSTS = 5000
"""Recent posts that a model is trained on: enough for a handful of topics, in a few seconds."""
OTHERS = 0.2
"""Share of them that carry neither today's nor the proposed keywords, but other candidates."""
FEWEST_POSTS = 20
"""Fewer recent posts than this have no topics worth showing."""
STEP = 0.01
L2 = 10.0
"""Penalty on the weights that bend topics by keyword: a hundred times the model's default, for posts are few here. With
the default, the held-out bound of 1,400 titles falls from the first step on."""
CHECK_EVERY = 10
SETS_PER_KEYWORD = 12
"""Keyword sets over which the words of a keyword are averaged."""
HALF_LIFE = 0.5
"""Windows after which a post counts half; the draw of posts forgets at half that pace."""
MODEL_HALF_LIFE = 4.0
"""Windows after which a post that was drawn counts half in training."""
STRENGTH = 300.0
"""Tokens that the model's words count beside those of recent posts: a rare keyword borrows strength."""
NOT_TRAINED = (
    "No topics are predicted: the topic model could not be trained on these posts. The advice does not need it."
)
TOO_FEW = "No topics are predicted: fewer than {} recent posts carry a keyword."


def recent_posts(history: Corpus, shown: Ints, seed: int) -> Ints:
    """Where recent posts to learn topics from are, at most `MOST_POSTS`; those of the candidates at `shown` first.

    Later posts are likelier to be drawn. A TrainingError where there are too few.
    """
    of_lists = np.zeros(len(history), dtype=np.bool_)
    of_lists[history.observed.rows[np.isin(history.observed.values, shown)]] = True
    if of_lists.sum() < FEWEST_POSTS:
        raise TrainingError(TOO_FEW.format(FEWEST_POSTS))
    weight = window_recency(history.n_windows, 2 * HALF_LIFE)[history.documents.window]
    recent = history.documents.window >= history.n_windows - RECENT
    if (of_lists & recent).sum() < ENOUGH_POSTS:
        recent[:] = True
    generator = np.random.default_rng(seed)

    def draw(index: Ints, most: int) -> Ints:
        if len(index) <= most:
            return index
        late = generator.exponential(size=len(index)) / weight[index]  # the smallest are a weighted draw
        return index[np.argsort(late, kind="stable")[:most]]

    ours = draw(np.flatnonzero(of_lists & recent), round((1 - OTHERS) * MOST_POSTS))
    others = draw(np.flatnonzero(~of_lists & recent), min(MOST_POSTS - len(ours), len(ours)))
    return np.sort(np.concatenate([ours, others]))


def train_model(
    posts: Corpus,
    *,
    n_topics: int,
    iterations: int,
    n_words: int,
    seed: int,
    fit: Fit | None = None,
    progress: Progress = silent,
) -> KLDA:
    """A model of these posts, which tells the most frequent words apart; `fit` trains it elsewhere, on Ray say."""
    from klda.model.klda import KLDA  # brings torch

    corpus = recoded(posts, most_frequent_vocabulary(posts, n_words))

    def train(step: float) -> KLDA:
        model = KLDA(
            n_topics=n_topics,
            topic_start="lda",
            pretraining_iterations=iterations,
            max_iterations=0,
            learning_rate=step,
            l2=L2,
            check_every=CHECK_EVERY,
            half_life=MODEL_HALF_LIFE,
            random_state=seed,
        )
        return model.fit(corpus, progress=progress) if fit is None else fit(model, corpus, progress)

    with one_thread():
        return trained_somehow(train, STEP)


@contextmanager
def one_thread() -> Iterator[None]:
    """Lets PyTorch use one thread: steps are so small that several mostly wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def trained_somehow(train: Callable[[float], KLDA], step: float) -> KLDA:
    """The model of `train` with this step, or with a smaller one if it diverges. Raises an error if no step works."""
    from klda.model.runs import with_smaller_steps  # brings torch

    try:
        return with_smaller_steps(train, step)
    except (TrainingError, DataError):
        raise TrainingError(NOT_TRAINED) from None


@dataclass(frozen=True)
class Expected:
    """The words and topics that a model expects in posts with each candidate; zeros for unknown candidates."""

    of_posts: Floats  # (D, K)  topic weights of the posts that were looked at
    shares: Floats  # (Q, K)  topic weights of posts with each candidate
    words: Floats  # (Q, K, words of the model)  what each topic adds to their words; the sum over words is the share
    vocabulary: Ints  # (words of the model,)  where these words are in the corpus's vocabulary; 0 is no word


def expected(model: KLDA, posts: Corpus, generator: np.random.Generator) -> Expected:
    """The words and topics that a model expects in posts with each candidate, from posts that carry it now."""
    with one_thread():
        return _expected(model, posts, generator)


def _expected(model: KLDA, posts: Corpus, generator: np.random.Generator) -> Expected:
    places = np.array([posts.vocabulary.index(word) for word in model.vocabulary_.words])
    if (places[1:] == 0).any():
        raise DataError(
            "the model has another vocabulary than the posts; prepare them with vocabulary=model.vocabulary_"
        )
    alone = posts.take(slice(None))  # without posts apart, which may carry a candidate of the model
    known = alone if model.candidates_ == posts.candidates else alone.with_candidates(model.candidates_)
    known = recoded(known, model.vocabulary_)
    weights = _of_words(model.transform(known), known)  # (documents with a candidate of the model, K)
    averaged = _averaged(model, known, weights, generator)  # (Q of the model, K, words of the model)
    of_posts = np.zeros((len(posts), weights.shape[1]))
    order = np.argsort(posts.documents.post, kind="stable")
    found = np.searchsorted(posts.documents.post[order], known.documents.post)
    of_posts[order[found]] = weights
    words = np.zeros((len(posts.candidates), *averaged.shape[1:]))
    both = [(i, posts.candidates.index(k)) for i, k in enumerate(model.candidates_) if k in posts.candidates]
    rows, columns = (np.array(part, dtype=np.int64) for part in zip(*both, strict=True))
    words[columns] = averaged[rows]
    return Expected(of_posts, words.sum(axis=2), words, places)


def predicted_words(found: Expected, history: Corpus) -> Floats:
    """The words that posts with each candidate will have: recent counts, with the model as prior. # (Q, V)"""
    background = word_counts(history) + 1.0
    background /= background.sum()
    counts = keyword_word_counts(history, HALF_LIFE)
    prior = expected_words(found, history, counts, background)
    from_counts(prior, background, 1.0, out=prior)
    return from_counts(counts, prior, STRENGTH, out=counts)


def expected_words(found: Expected, history: Corpus, counts: Floats, background: Floats) -> Floats:
    """Tokens that the model expects from posts with each keyword, as many as were counted (Q, V). # (Q, V)

    The model explains the words that are not keywords; those that are come from the counts themselves. What it does
    not tell apart, rare words and candidates it was not trained on, is as in the background (V,).
    """
    rare = np.ones(len(history.vocabulary), dtype=np.bool_)
    rare[found.vocabulary[1:]] = False
    of_all_topics = found.words.sum(axis=1)  # (Q, words of the model)
    modelled = np.tile(background, (len(history.candidates), 1))
    for column in np.flatnonzero(of_all_topics.any(axis=1)).tolist():
        modelled[column, rare] *= of_all_topics[column, 0] / background[rare].sum()
        modelled[column, found.vocabulary[1:]] = of_all_topics[column, 1:]

    is_keyword = np.zeros(len(history.vocabulary), dtype=np.bool_)
    is_keyword[history.keyword_words.values] = True
    rest = counts @ (~is_keyword).astype(np.float64)  # (Q,) tokens for the model to explain
    modelled[:, is_keyword] = 0.0
    modelled *= (rest / np.maximum(modelled.sum(axis=1), np.finfo(np.float64).tiny))[:, None]  # nothing left: nothing
    modelled[:, is_keyword] = counts[:, is_keyword]
    return modelled


def _averaged(model: KLDA, posts: Corpus, weights: Floats, generator: np.random.Generator) -> Floats:
    """What each topic adds to the words of each keyword, over keyword sets that it occurred with. # (Q, K, V)

    Recent sets are more likely. A keyword without posts is taken alone, its topics evenly.
    """
    observed, late = posts.observed, recency(posts, 1.0)
    by_keyword = np.argsort(observed.values, kind="stable")
    edges = np.searchsorted(observed.values[by_keyword], np.arange(len(posts.candidates) + 1))
    documents = observed.rows[by_keyword]
    uses: dict[tuple[int, ...], Counter[int]] = {}  # how often each keyword is averaged over each set
    for column in range(len(posts.candidates)):
        mine = documents[edges[column] : edges[column + 1]]
        sets = [(column,)] * SETS_PER_KEYWORD
        if len(mine):
            chance = late[mine] / late[mine].sum()
            sets = [tuple(observed[int(d)].tolist()) for d in generator.choice(mine, SETS_PER_KEYWORD, p=chance)]
        for keywords in sets:
            uses.setdefault(keywords, Counter())[column] += 1
    shares = _topic_shares(posts, weights)  # (Q, K)
    result = np.zeros((*shares.shape, len(posts.vocabulary)))
    matrices = model.topic_words([[posts.candidates[k] for k in keywords] for keywords in uses])
    for matrix, columns in zip(matrices, uses.values(), strict=True):
        rows = list(columns)
        part = shares[rows] * (np.array(list(columns.values())) / SETS_PER_KEYWORD)[:, None]  # (users, K)
        result[rows] += part[:, :, None] * matrix
    return result


def _of_words(weights: Floats, posts: Corpus) -> Floats:
    """How much of the words of each post each topic makes up, given expected topic weights. # (D, K)

    The prior counts as one word for each topic. A title of six words would seem to be about everything.
    """
    n_words = posts.documents.lengths[:, None].astype(np.float64)
    counted = np.maximum(weights * (n_words + weights.shape[1]) - 1.0, 0.0)
    total = counted.sum(axis=1, keepdims=True)
    return np.where(total > 0, counted / np.maximum(total, 1e-12), weights)


def _topic_shares(posts: Corpus, weights: Floats) -> Floats:
    """The share of each topic in the posts with each keyword; late posts count more. # (Q, K)"""
    late = recency(posts, 2 * HALF_LIFE)[:, None] * weights
    shares = np.full((len(posts.candidates), weights.shape[1]), 1e-3)
    np.add.at(shares, posts.observed.values, late[posts.observed.rows])
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
