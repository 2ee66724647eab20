"""Topics of the posts that a keyword list brings, for showing lists side by side."""

from __future__ import annotations

from klda.corpus.corpus import Corpus
from klda.model.coherence import leading_words
from klda.model.lda import fit_lda
from klda.report.content import Topic
from klda.types import KeywordSet

MIN_POSTS = 20
"""Fewer posts than this have no topics worth showing."""


def topics_of(
    corpus: Corpus,
    keywords: KeywordSet,
    *,
    beside: KeywordSet = KeywordSet(),
    n_topics: int = 5,
    n_words: int = 8,
    seed: int = 0,
) -> tuple[Topic, ...]:
    """The topics of the corpus's posts that carry one of the keywords, largest first; none when posts are few.

    Words that are the keywords themselves are left out: every post has them, so they tell topics apart least. So are
    those of a list that is shown `beside` this one: a word would seem to go just because it becomes a keyword.
    """
    wanted = corpus.with_candidates(keywords)
    if len(wanted) < MIN_POSTS:
        return ()
    model = fit_lda(wanted.documents, len(wanted.vocabulary), n_topics, seed=seed, iterations=100)
    share = model.infer(wanted.documents).mean(axis=0)  # (K,)
    shown = model.topic_word.copy()
    shown[:, corpus.with_candidates(keywords | beside).keyword_words.values] = 0.0
    found = [
        Topic(float(share[k]), tuple(wanted.vocabulary.display(int(word)) for word in leading))
        for k, leading in enumerate(leading_words(shown, n_words))
    ]
    return tuple(sorted(found, key=lambda topic: -topic.share))
