"""What lies in files, and is worked on a block at a time, gives what it gives in memory and at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from klda.model import data as model_data
from klda.model.batches import make_batch
from klda.model.data import training_data
from klda.model.klda import KLDA
from klda.model.model_settings import ModelSettings
from klda.model.runs import fingerprint
from klda.model.trainer import split
from klda.simulation import World
from klda.text import documents
from klda.text.corpus import Corpus
from klda.text.documents import Ragged, end_to_end, picked, sums
from klda.types import KeywordSet


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_posts(
        World(weeks=2, posts_per_week=600), ["health", "doctor"], candidates=KeywordSet.of("nurse", "horse", "race")
    )


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "IN_MEMORY", 0)
    monkeypatch.setattr(documents, "BLOCK", 7)
    monkeypatch.setattr(model_data, "BLOCK", 7)


def is_mapped(array: np.ndarray) -> bool:
    base = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base  # type: ignore[assignment]
    return False


def test_a_model_trained_from_files_is_the_same(corpus: Corpus, request: pytest.FixtureRequest) -> None:
    settings = {"n_topics": 2, "pretraining_iterations": 3, "max_iterations": 3, "random_state": 0}
    before = KLDA(**settings).fit(corpus)  # type: ignore[arg-type]
    request.getfixturevalue("on_disk")
    after = KLDA(**settings).fit(corpus)  # type: ignore[arg-type]
    np.testing.assert_allclose(after.topic_word(["health"]), before.topic_word(["health"]), rtol=1e-5)
    assert [bound for _, _, bound in after.history_] == pytest.approx([bound for _, _, bound in before.history_])


def test_a_block_at_a_time_adds_up_to_the_whole(corpus: Corpus, request: pytest.FixtureRequest) -> None:
    whole = training_data(corpus, half_life=1.0)
    chosen = np.random.default_rng(0).permutation(len(whole))[:40]
    before = whole.pick(chosen)
    facts = (before.lengths, before.word_frequency, before.keyword_weight, before.cover.indptr, before.cover.values)
    batch, mark = make_batch(before, np.arange(5, 20)), fingerprint(before)
    request.getfixturevalue("on_disk")
    after = training_data(corpus, half_life=1.0).pick(chosen)
    assert is_mapped(after.words)
    assert is_mapped(after.observed.values)
    for expected, found in zip(
        facts,
        (after.lengths, after.word_frequency, after.keyword_weight, after.cover.indptr, after.cover.values),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert fingerprint(after) == mark
    again = make_batch(after, np.arange(5, 20))
    np.testing.assert_array_equal(again.cover_token, batch.cover_token)
    np.testing.assert_array_equal(again.words, batch.words)


def test_covered_tokens_are_those_of_the_candidate(corpus: Corpus) -> None:
    data = training_data(corpus)
    batch = make_batch(data, np.arange(len(data)))
    for pair, keyword in enumerate(batch.pair_keyword.tolist()):
        covered = batch.cover_token[batch.cover_start[pair] : batch.cover_start[pair + 1]]
        document = int(batch.pair_document[pair])
        own = np.arange(batch.token_start[document], batch.token_start[document + 1])
        expected = own[np.isin(batch.words[own], data.keyword_words[keyword])]
        assert covered.tolist() == expected.tolist()


@pytest.mark.usefixtures("on_disk")
def test_large_arrays_lie_in_files() -> None:
    lists = Ragged.of([[1, 2], [], [3], [4, 5, 6]] * 5)
    assert is_mapped(lists.take(np.arange(20)[::-1]).values)
    assert lists.take(np.array([3, 2])).lists() == [[4, 5, 6], [3]]
    assert Ragged.joined([lists, lists]).lists() == 2 * lists.lists()
    assert is_mapped(end_to_end([np.arange(3), np.arange(2)]))
    assert picked(np.arange(9), np.array([7, 0]), np.array([2, 1])).tolist() == [7, 8, 0]
    assert sums(lists.values, lists.indptr).tolist() == [3, 0, 3, 15] * 5


def test_little_is_held_in_memory_for_a_document_while_some_are_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 50_000
    words = np.arange(4 * n, dtype=np.int32) % 4 + 1
    data = model_data.TrainingData(
        np.arange(0, 4 * n + 1, 4),
        words,
        np.ones(4 * n, dtype=np.int32),
        Ragged(np.arange(n + 1), np.zeros(n, dtype=np.int32)),
        Ragged.of([[1]]),
        5,
        np.ones(n),
    )
    monkeypatch.setattr(documents, "IN_MEMORY", 1 << 16)
    monkeypatch.setattr(documents, "BLOCK", 1 << 10)
    tracemalloc.start()
    parts = split(data, ModelSettings(max_held_out=10))
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(parts.training) == n - 10
    assert held < 2 * n  # bytes: only offsets of the few held out, and such
    assert most < 20 * n
