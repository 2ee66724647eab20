from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.errors import DataError, SettingError
from klda.posts.schema import PostSink, to_batch
from klda.text import corpus as corpus_module
from klda.text.corpus import Corpus
from klda.text.languages import stem_words
from klda.text.matching import Matcher
from klda.text.shards import summarise
from klda.text.stopwords import STOP_WORDS
from klda.text.text_settings import TextSettings
from klda.text.tokens import tokenise
from klda.types import Keyword, KeywordSet, Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
ALL_WORDS = TextSettings(min_count=1)


def posts_of(texts: Sequence[str], hours: int = 24, start: datetime = MONDAY) -> list[Post]:
    return [Post(f"{start:%j}-{i}", start + timedelta(hours=hours * i), text) for i, text in enumerate(texts)]


def bags(corpus: Corpus) -> list[Counter[str]]:
    """The words of each document, as the corpus has them."""
    documents, words = corpus.documents, corpus.vocabulary.words
    return [
        Counter({words[w]: int(c) for w, c in zip(documents.words[a:b], documents.counts[a:b], strict=True)})
        for a, b in zip(documents.indptr[:-1], documents.indptr[1:], strict=True)
    ]


def obvious_bag(text: str, known: set[str]) -> Counter[str]:
    tokens = [t for t in tokenise(text) if t not in STOP_WORDS["en"]]
    return Counter(stem if stem in known else "<rare>" for stem in stem_words(tokens))


words = st.sampled_from(
    ["mask", "masks", "Virus", "the", "#mask", "home", "wind", "👍", "workers", "working", "rare-one"]
)
texts = st.lists(st.lists(words, max_size=6).map(" ".join), min_size=1, max_size=30)


@given(texts, st.integers(1, 4), st.permutations(range(30)))
@settings(deadline=None)
def test_documents_hold_the_words_of_their_posts(texts: list[str], min_count: int, shuffle: list[int]) -> None:
    posts = posts_of(texts)
    mixed = [posts[i] for i in shuffle if i < len(posts)]
    corpus = Corpus.from_posts(mixed, ["mask", "home work"], settings=TextSettings(min_count=min_count), workers=1)
    assert len(corpus) + len(corpus.apart) == len(posts)
    assert np.all(np.diff(corpus.documents.time) >= 0)
    totals = sum(
        (obvious_bag(text, set(corpus.vocabulary.words) | set(stem_words(text.split()))) for text in texts), Counter()
    )
    for word, total in zip(corpus.vocabulary.words[1:], corpus.vocabulary.counts[1:], strict=True):
        assert totals[word] == total >= min_count
    for row, bag in zip(corpus.documents.post, bags(corpus), strict=True):
        assert bag == obvious_bag(corpus.posts[int(row)].text, set(corpus.vocabulary.words))
    matcher = Matcher(corpus.candidates)
    assert corpus.observed.lists() == [matcher.match(corpus.posts[int(row)].text) for row in corpus.documents.post]
    assert all(not matcher.match(corpus.posts[int(row)].text) for row in corpus.apart.post)


class SmallBatches:
    """A source that yields three posts at a time."""

    def __init__(self, posts: list[Post]) -> None:
        self.posts = posts

    def batches(self) -> Iterator[pa.RecordBatch]:
        for i in range(0, len(self.posts), 3):
            yield to_batch(self.posts[i : i + 3])


def test_threads_and_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    posts = posts_of([f"mask {i % 7} word{i % 5} wind" for i in range(50)])
    whole = Corpus.from_posts(posts, ["mask", "wind"], settings=ALL_WORDS, workers=1)
    monkeypatch.setattr(corpus_module, "CHUNK_ROWS", 6)
    in_parts = Corpus.from_posts(SmallBatches(posts), ["mask", "wind"], settings=ALL_WORDS, workers=3)
    assert in_parts.vocabulary == whole.vocabulary
    for name, array in whole.documents.arrays().items():
        np.testing.assert_array_equal(array, getattr(in_parts.documents, name))


def test_many_posts_are_spilled_to_disk_and_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    posts = posts_of([f"mask number {i}" for i in range(40)])
    monkeypatch.setattr(corpus_module, "PostSink", lambda: PostSink(keep_bytes=1))
    corpus = Corpus.from_posts(SmallBatches(posts), ["mask"], settings=ALL_WORDS)
    assert [corpus.posts[i] for i in range(40)] == posts


def test_candidates_are_matched_beside_the_keywords() -> None:
    corpus = Corpus.from_posts(
        posts_of(["mask", "wind", "rain"]), ["mask"], candidates=KeywordSet.of("wind"), settings=ALL_WORDS
    )
    assert corpus.candidates.texts == ("wind", "mask")
    assert corpus.history == (KeywordSet.of("mask"),)
    assert (len(corpus), len(corpus.apart)) == (2, 1)


def test_words_unknown_to_an_earlier_vocabulary_become_the_placeholder() -> None:
    first = Corpus.from_posts(posts_of(["mask wind"]), ["mask"], settings=ALL_WORDS)
    second = Corpus.from_posts(posts_of(["mask rain rain"]), ["mask"], settings=ALL_WORDS, vocabulary=first.vocabulary)
    assert second.vocabulary is first.vocabulary
    assert bags(second) == [Counter({"mask": 1, "<rare>": 2})]


def test_an_extended_vocabulary_keeps_the_old_numbers() -> None:
    first = Corpus.from_posts(posts_of(["mask wind"]), ["mask"], settings=ALL_WORDS)
    second = Corpus.from_posts(
        posts_of(["mask rain rain"]), ["mask"], settings=ALL_WORDS, vocabulary=first.vocabulary, extend_vocabulary=True
    )
    assert second.vocabulary.words == (*first.vocabulary.words, "rain")
    assert bags(second) == [Counter({"mask": 1, "rain": 2})]


def test_a_typed_keyword_matches_its_stem_only_when_asked() -> None:
    posts = posts_of(["one mask", "two masks", "a masked man", "rain"])
    assert len(Corpus.from_posts(posts, ["mask"], settings=ALL_WORDS)) == 1
    stemmed = Corpus.from_posts(posts, ["mask"], settings=ALL_WORDS, stem_keywords=True)
    assert len(stemmed) == 3
    assert set(stemmed.candidates[0].forms) == {"mask", "masks", "masked"}
    assert stemmed.history[0] == stemmed.candidates


def test_the_words_of_a_phrase_are_stemmed_too() -> None:
    posts = posts_of(["mask maker", "masks by makers", "mask"])
    corpus = Corpus.from_posts(posts, ["mask maker"], settings=ALL_WORDS, stem_keywords=True)
    assert len(corpus) == 2


def test_no_posts_and_no_keywords_are_refused() -> None:
    with pytest.raises(DataError, match="no posts"):
        Corpus.from_posts([], ["mask"])
    with pytest.raises(SettingError, match="keyword"):
        Corpus.from_posts(posts_of(["mask"]), [])


def test_history_needs_one_set_for_each_window() -> None:
    with pytest.raises(SettingError, match="2 keyword sets for 1 windows"):
        Corpus.from_posts(posts_of(["mask"]), ["mask"], history=[KeywordSet.of("mask")] * 2)


# ── a corpus that grows ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_window_stands_behind_the_old_ones() -> None:
    first = Corpus.from_posts(posts_of(["mask wind", "rain"]), ["mask"], settings=ALL_WORDS)
    later = posts_of(["storm", "mask"], start=MONDAY + timedelta(weeks=2))
    both = first.extended(later, KeywordSet.of("storm"))
    assert both.n_windows == 3
    assert [keywords.texts for keywords in both.history] == [("mask",), ("storm",), ("storm",)]
    assert both.candidates.texts == ("mask", "storm")
    assert both.vocabulary.words[: len(first.vocabulary)] == first.vocabulary.words
    assert both.documents.window.tolist() == [0, 2, 2]
    assert both.observed.lists() == [[0], [1], [0]]
    assert bags(both) == [Counter(mask=1, wind=1), Counter(storm=1), Counter(mask=1)]
    assert [both.posts[int(row)].text for row in both.documents.post] == ["mask wind", "storm", "mask"]
    assert [both.posts[int(row)].text for row in both.apart.post] == ["rain"]


@given(texts, st.integers(1, 29))
@settings(deadline=None)
def test_growing_gives_the_same_documents_as_reading_all_at_once(texts: list[str], cut: int) -> None:
    posts = posts_of(texts)
    first, rest = posts[:cut], posts[cut:]
    whole = Corpus.from_posts(posts, ["mask", "home"], settings=ALL_WORDS, workers=1)
    if not rest:
        return
    grown = Corpus.from_posts(first, ["mask", "home"], settings=ALL_WORDS, workers=1).extended(rest, workers=1)
    assert bags(grown) == bags(whole)
    assert grown.windows == whole.windows
    assert grown.observed.lists() == whole.observed.lists()
    np.testing.assert_array_equal(grown.documents.window, whole.documents.window)


def test_late_posts_find_their_place_in_old_windows() -> None:
    first = Corpus.from_posts(posts_of(["mask one"], start=MONDAY + timedelta(days=3)), ["mask"], settings=ALL_WORDS)
    both = first.extended(posts_of(["mask zero"]))
    assert both.windows == first.windows
    assert [both.posts[int(row)].text for row in both.documents.post] == ["mask zero", "mask one"]


# ── other candidates, and what is in it ──────────────────────────────────────────────────────────────────────────────


def test_other_candidates_give_the_same_corpus_as_matching_them_at_first() -> None:
    posts = posts_of(["mask", "wind rain", "sun", "mask sun", "nothing"])
    swapped = Corpus.from_posts(posts, ["mask"], settings=ALL_WORDS).with_candidates(KeywordSet.of("sun", "rain"))
    direct = Corpus.from_posts(posts, ["sun", "rain"], settings=ALL_WORDS)
    assert swapped.observed.lists() == direct.observed.lists()
    assert swapped.documents.post.tolist() == direct.documents.post.tolist()
    assert swapped.apart.post.tolist() == direct.apart.post.tolist()


@given(st.lists(st.sets(st.sampled_from(["mask", "wind", "sun", "rain"])), min_size=1, max_size=12))
def test_fewer_candidates_give_the_same_corpus_as_matching_them_alone(words: list[set[str]]) -> None:
    posts = posts_of([" ".join(sorted(said)) or "nothing" for said in words])
    every = Corpus.from_posts(posts, ["mask", "wind", "sun"], settings=ALL_WORDS)
    fewer = every.with_candidates(KeywordSet.of("sun", "mask"))
    direct = Corpus.from_posts(posts, ["sun", "mask"], settings=ALL_WORDS)
    assert fewer.observed.lists() == direct.observed.lists()
    assert fewer.documents.post.tolist() == direct.documents.post.tolist()
    assert fewer.apart.post.tolist() == direct.apart.post.tolist()


def test_a_candidate_of_other_forms_is_matched_anew() -> None:
    corpus = Corpus.from_posts(posts_of(["mask", "masks"]), ["mask"], settings=ALL_WORDS)
    wider = corpus.with_candidates(KeywordSet((Keyword("mask", ("mask", "masks")),)))
    assert (len(corpus), len(wider)) == (1, 2)


def test_swapping_candidates_and_back_loses_no_post() -> None:
    corpus = Corpus.from_posts(posts_of(["mask", "wind", "sun"]), ["mask"], settings=ALL_WORDS)
    back = corpus.with_candidates(KeywordSet.of("wind")).with_candidates(KeywordSet.of("mask"))
    assert back.documents.post.tolist() == corpus.documents.post.tolist()
    assert back.apart.post.tolist() == corpus.apart.post.tolist()


def test_a_corpus_is_sliced_by_window_time_and_keyword() -> None:
    corpus = Corpus.from_posts(
        posts_of(["mask", "wind mask", "wind"], hours=24 * 7), ["mask", "wind"], settings=ALL_WORDS
    )
    assert [len(corpus.window(i)) for i in range(3)] == [1, 1, 1]
    assert corpus.window(-1).documents.window.tolist() == [0]
    assert len(corpus.span(1)) == 2
    assert len(corpus.between(MONDAY, MONDAY + timedelta(weeks=2))) == 2
    assert corpus.with_keyword("wind").documents.post.tolist() == [1, 2]
    assert corpus.carrying([Keyword("mask")]).tolist() == [0, 1]


def test_a_summary_counts_what_is_there() -> None:
    corpus = Corpus.from_posts(
        posts_of(["mask wind", "sun", "mask"], hours=24 * 7), ["mask"], settings=TextSettings(min_count=2)
    )
    summary = summarise(corpus)
    assert (summary.documents, summary.without_keyword, summary.tokens) == (2, 1, 3)
    assert (summary.vocabulary_before, summary.vocabulary) == (3, 1)
    assert [(w.documents, w.without_keyword, w.tokens) for w in summary.windows] == [(1, 0, 2), (0, 1, 0), (1, 0, 1)]


def test_keywords_and_candidates_that_differ_in_case_are_one():
    corpus = Corpus.from_posts(posts_of(["mask", "Mask"]), ["Mask"], candidates=["mask", "wind"], settings=ALL_WORDS)
    assert corpus.candidates.texts == ("mask", "wind")
    assert corpus.history == (KeywordSet.of("mask"),)
    assert len(corpus.carrying(["MASK"])) == 2
    with pytest.raises(DataError, match=r"rain: not among the candidates"):
        corpus.carrying(["rain"])


def test_corpora_are_the_same_where_they_are_one():
    one, other = (Corpus.from_posts(posts_of(["mask"]), ["mask"], settings=ALL_WORDS) for _ in range(2))
    assert one == one
    assert one != other
    assert one in {one}
