from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from klda.text.corpus import Corpus
from klda.text.recode import frequent_vocabulary, most_frequent_vocabulary, recoded
from klda.text.text_settings import TextSettings
from klda.types import Post

START = datetime(2026, 1, 5, tzinfo=UTC)


def corpus(texts):
    posts = [Post(str(i), START + timedelta(hours=i), text) for i, text in enumerate(texts)]
    return Corpus.from_posts(posts, ["mask"], settings=TextSettings(min_count=1))


def counted(found):
    """Each document as {word: count}, by name."""
    documents = found.documents
    return [
        {
            found.vocabulary.words[w]: int(n)
            for w, n in zip(
                documents.words[documents.indptr[d] : documents.indptr[d + 1]],
                documents.counts[documents.indptr[d] : documents.indptr[d + 1]],
                strict=True,
            )
        }
        for d in range(len(documents))
    ]


def test_words_that_the_new_vocabulary_does_not_know_share_the_placeholder():
    whole = corpus(["mask shop shop rule", "mask rule law"])
    small = frequent_vocabulary(corpus(["mask rule", "mask rule"]), min_count=2)
    assert counted(recoded(whole, small)) == [
        {"<rare>": 2, "mask": 1, "rule": 1},
        {"<rare>": 1, "mask": 1, "rule": 1},
    ]


def test_recoding_keeps_every_token_and_document():
    whole = corpus(["mask shop", "law", "mask law law"])
    again = recoded(whole, frequent_vocabulary(whole, min_count=3))
    assert again.documents.n_tokens == whole.documents.n_tokens
    assert again.apart.n_tokens == whole.apart.n_tokens
    assert np.array_equal(again.documents.time, whole.documents.time)


def test_the_frequent_vocabulary_counts_only_the_documents_at_hand():
    whole = corpus(["mask shop"] * 3 + ["shop law"] * 9)
    assert set(frequent_vocabulary(whole, min_count=3).words) == {"<rare>", "mask", "shop"}
    assert set(frequent_vocabulary(whole.take(slice(0, 2)), min_count=3).words) == {"<rare>"}


def test_the_most_frequent_words_are_all_of_them_where_there_is_room():
    whole = corpus(["mask shop rule", "mask shop law"])
    for n_words in (4, 99):
        assert most_frequent_vocabulary(whole, n_words).words == whole.vocabulary.words


def test_words_that_occur_equally_often_are_kept_together_or_not_at_all():
    whole = corpus(["mask shop rule", "mask shop law"])
    assert set(most_frequent_vocabulary(whole, 3).words) == {"<rare>", "mask", "shop"}
    assert set(most_frequent_vocabulary(whole, 2).words) == {"<rare>", "mask", "shop"}
    assert set(most_frequent_vocabulary(whole, 1).words) == {"<rare>"}


def test_words_that_only_other_documents_have_are_not_among_the_most_frequent():
    whole = corpus(["mask shop", "mask law"])
    for n_words in (2, 99):
        assert set(most_frequent_vocabulary(whole.take(slice(0, 1)), n_words).words) == {"<rare>", "mask", "shop"}


def test_a_document_without_words_stays_a_document():
    whole = corpus(["mask", "mask shop"])
    nothing = frequent_vocabulary(whole, min_count=99)
    assert counted(recoded(whole, nothing)) == [{"<rare>": 1}, {"<rare>": 2}]
