from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from klda.errors import DataError, FormatError, TrainingError
from klda.model import lda
from klda.model.batches import DocumentSampler
from klda.model.data import TrainingData, training_data
from klda.model.initialise import find_n_topics
from klda.model.klda import KLDA
from klda.model.workers import Workers, in_step
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import Post
from tests.unit.model.in_threads import InThread, Table, own, together


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    keywords = ["health", "hospital", "doctor", "horse", "racing", "climate", "rent", "space"]
    return Corpus.from_posts(World(weeks=3, posts_per_week=900), keywords)


def model(batch_size: int, **changes: Any) -> KLDA:
    return KLDA(
        n_topics=3,
        hidden=(8,),
        batch_size=batch_size,
        enumeration_limit=1,
        pretraining_iterations=4,
        max_iterations=6,
        check_every=2,
        **changes,
    )


WAYS: list[dict[str, Any]] = [
    {},
    {"share_sets": False, "half_life": 2.0, "topic_prior": "parametric"},
    {"relaxation": "enumerate"},
    {"relaxation": "gumbel", "partition": "gibbs", "n_chains": 10},
    {"relaxation": "categorical", "word_weight": "vocabulary"},
    {"relaxation": "gumbel", "batches": "uniform", "early_stop": None},
]


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())) or "default")
def test_n_workers_learn_what_one_learns_from_an_n_fold_batch(corpus: Corpus, way: dict[str, Any], size: int):
    alone = model(16 * size, **way).fit(corpus)
    several = together(
        size, lambda workers: model(16, **way).fit(own(corpus, workers, way.get("half_life")), workers=workers)
    )
    for one in several:
        for name, tensor in alone.parameters_.tensors().items():
            torch.testing.assert_close(one.parameters_.tensors()[name], tensor, rtol=1e-3, atol=1e-3)
            assert torch.equal(one.parameters_.tensors()[name], several[0].parameters_.tensors()[name])
        np.testing.assert_allclose([h[2] for h in one.history_], [h[2] for h in alone.history_], rtol=1e-4)
        np.testing.assert_allclose(one.word_frequency_, alone.word_frequency_)
        np.testing.assert_allclose(one.keyword_frequency_, alone.keyword_frequency_)
        assert one.mean_length_ == pytest.approx(alone.mean_length_)


def test_several_workers_resume_bit_for_bit_each_with_its_own_part(corpus: Corpus, tmp_path: Path):
    way = {"relaxation": "enumerate"}
    whole = together(2, lambda w: model(16, **way).fit(own(corpus, w), workers=w))

    def stopped(workers: Workers) -> None:
        def interrupt(stage: str, done: int, total: int | None = None, **facts: float) -> None:
            if stage == "training" and done == 3:
                workers.gather(None)  # both have finished the iteration
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            model(16, **way).fit(own(corpus, workers), workers=workers, checkpoint=tmp_path, progress=interrupt)

    together(2, stopped)
    assert {p.name for p in tmp_path.glob("*.json")} == {"checkpoint.json", "worker-0.json", "worker-1.json"}
    resumed = together(2, lambda w: model(16, **way).fit(own(corpus, w), workers=w, checkpoint=tmp_path, resume=True))
    for name, tensor in whole[0].parameters_.tensors().items():
        assert torch.equal(resumed[1].parameters_.tensors()[name], tensor), name
    with pytest.raises(TrainingError, match="of 2 workers, not of 1"):
        model(16, **way).fit(corpus, checkpoint=tmp_path, resume=True)

    def refused(workers: Workers) -> str:
        with pytest.raises(FormatError) as error:
            model(16, **way).fit(own(corpus, workers), workers=workers, checkpoint=tmp_path, resume=True)
        return str(error.value)

    (tmp_path / "worker-1.json").write_text("{", encoding="utf-8")
    assert ["worker-1.json: damaged" in said for said in together(2, refused)] == [True, True]


@pytest.mark.parametrize("rank", [0, 1])
def test_what_one_worker_cannot_do_is_raised_by_all(rank: int):
    def work(workers: Workers) -> None:
        def fail() -> int:
            if workers.rank == rank:
                raise DataError("not here")
            return 0

        with pytest.raises(DataError, match="not here"):
            in_step(workers, fail)

    together(2, work)


def test_where_no_document_has_a_word_all_workers_say_so_while_one_looks_for_topics():
    texts = [f"https://health.example/{number}" for number in range(300)] + ["something interesting"] * 20
    posts = [Post(str(i), datetime(2026, 1, 5 + i % 9, tzinfo=UTC), text) for i, text in enumerate(texts)]
    wordless = Corpus.from_posts(posts, ["health"])
    assert len(wordless) == 300

    def refused(workers: Workers) -> None:
        with pytest.raises(DataError, match="no document has a word of the vocabulary"):
            KLDA(n_topics="auto").fit(own(wordless, workers), workers=workers)

    together(2, refused)


def test_workers_together_draw_what_one_draws():
    weights = np.random.default_rng(1).random(400)
    alone = DocumentSampler(weights)
    wanted = [alone.draw(60, generator) for generator in [np.random.default_rng(0)] for _ in range(20)]

    def draws(workers: Workers) -> list[Any]:
        start, stop = [0, 90, 250, 400][workers.rank : workers.rank + 2]
        sampler, generator = DocumentSampler(weights[start:stop], workers), np.random.default_rng(0)
        return [start + sampler.draw(60, generator) for _ in range(20)]

    found = [np.concatenate(parts) for parts in zip(*together(3, draws), strict=True)]
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.tolist() == theirs.tolist()


def test_more_workers_than_the_documents_can_feed_are_refused(corpus: Corpus):
    with pytest.raises(DataError, match="too few for 40 workers"):
        own(corpus, InThread(0, 40, Table(40)))


def test_workers_hold_every_document_once_and_count_alike(corpus: Corpus):
    parts = together(3, lambda workers: own(corpus, workers, half_life=1.0))
    assert np.concatenate([part.documents.post for part in parts]).tolist() == corpus.documents.post.tolist()
    weights = together(3, lambda workers: training_data(parts[workers.rank], half_life=1.0, workers=workers).weights)
    np.testing.assert_allclose(np.concatenate(weights), training_data(corpus, half_life=1.0).weights)
    np.testing.assert_allclose([mine.sum() for mine in weights], len(corpus) / 3, rtol=0.02)


def test_workers_look_for_topics_in_the_same_documents_as_one(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    def look(train: TrainingData, test: TrainingData, n_words: int, **_: Any) -> int:
        return int(train.words @ np.arange(len(train.words)) + test.counts.sum() + n_words)

    monkeypatch.setattr(lda, "choose_n_topics", look)
    alone = find_n_topics(training_data(corpus), seed=0)
    assert together(2, lambda w: find_n_topics(training_data(own(corpus, w)), seed=0, workers=w)) == [alone, alone]
