from __future__ import annotations

import numpy as np

from klda.baselines.incidence import candidates_in, company, together, words_in
from tests.unit.baselines.few_posts import weekly


def slow_company(corpus, weights):
    """Loops over posts, candidates and words."""
    counts = np.zeros((len(corpus.candidates), len(corpus.vocabulary)))
    for d in range(len(corpus)):
        words = corpus.documents.words[corpus.documents.indptr[d] : corpus.documents.indptr[d + 1]]
        for keyword in corpus.observed[d]:
            for word in words:
                if word > 0 and word not in corpus.keyword_words[int(keyword)]:
                    counts[keyword, word] += weights[d]
    return counts


def test_company_is_that_of_a_loop_over_posts(history):
    some = history.take(np.arange(0, len(history), 9))
    weights = np.random.default_rng(0).random(len(some))
    np.testing.assert_allclose(company(some, weights), slow_company(some, weights))
    np.testing.assert_allclose(company(some), slow_company(some, np.ones(len(some))))


def test_words_are_together_as_often_as_posts_have_both(history):
    some = history.take(np.arange(0, len(history), 9))
    present = words_in(some.documents, len(some.vocabulary))
    weights = np.random.default_rng(0).random(len(some))
    dense = present.toarray()
    expected = dense.T @ (dense * weights[:, None])
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(together(present, weights).toarray(), expected, atol=1e-12)


def test_repeated_words_count_once_and_rare_ones_never(history):
    present = words_in(history.documents, len(history.vocabulary))
    assert set(present.data.tolist()) == {1.0}
    assert (history.documents.words == 0).any()
    assert present[:, [0]].nnz == 0
    assert present.nnz == (history.documents.words > 0).sum()


def test_counting_leaves_the_corpus_as_it_was(history):
    words, indptr = history.documents.words.copy(), history.documents.indptr.copy()
    together(words_in(history.documents, len(history.vocabulary)))
    company(history)
    np.testing.assert_array_equal(history.documents.words, words)
    np.testing.assert_array_equal(history.documents.indptr, indptr)


def test_a_word_keeps_the_company_that_it_has_as_a_candidate():
    corpus = weekly(["horse race", "horse whip whip", "race whip horse"], keywords=("horse",))
    present = words_in(corpus.documents, len(corpus.vocabulary))
    horse = corpus.vocabulary.index("hors")
    np.testing.assert_array_equal(company(corpus)[0], together(present).toarray()[horse])
    assert candidates_in(corpus).toarray().tolist() == [[1], [1], [1]]


def test_a_phrase_keeps_the_company_of_the_posts_with_all_its_words():
    corpus = weekly(["computer virus attack", "computer shop", "virus ward"], keywords=("computer virus", "virus"))
    found = {corpus.vocabulary.display(int(word)) for word in np.flatnonzero(company(corpus)[0])}
    assert found == {"attack"}
