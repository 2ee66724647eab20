"""The estimator that people import: its conventions, what it answers, stopping, going on and new windows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from klda.errors import DataError, SettingError, TrainingError
from klda.model.klda import KLDA
from klda.text.corpus import Corpus
from klda.text.documents import Ragged
from klda.text.vocabulary import PLACEHOLDER
from tests.unit.model.small import QUICK, corpus_of, data_of, random_data


def test_it_follows_the_conventions_of_estimators(corpus: Corpus, model: KLDA):
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "parameters_")
    twin.set_params(n_topics=3)
    assert twin.n_topics == 3
    with pytest.raises(NotFittedError):
        twin.topics()
    assert model.fit(corpus) is model


def test_documents_without_a_word_are_a_clear_error():
    nothing = corpus_of(data_of([[]] * 20, [[0]] * 20, [[1]], 4))
    for setting in ({}, {"held_out": 0.0}, {"relaxation": "gumbel", "partition": "gibbs"}, {"n_topics": "auto"}):
        with pytest.raises(DataError, match=r"no document .*has a word"):
            KLDA(**(QUICK | setting)).fit(nothing)


def test_distributions_sum_to_one(model: KLDA):
    matrix = model.topic_word(["word1", "word3"])
    assert matrix.shape == (2, 13)
    np.testing.assert_allclose(matrix.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(model.word_distribution(["word1", "word3"]), matrix.mean(0))
    many = model.word_distributions(["word1", "word2"])
    np.testing.assert_allclose(many[1], model.word_distribution(["word2"]), rtol=1e-5)


def test_the_order_of_a_keyword_set_does_not_matter(model: KLDA):
    assert (model.topic_word(["word1", "word3"]) == model.topic_word(["word3", "word1"])).all()


def test_topics_are_words_in_order_of_probability(model: KLDA):
    topics = model.topics(3)
    assert [len(topic) for topic in topics] == [3, 3]
    for topic in topics:
        probabilities = [probability for _, probability in topic]
        assert probabilities == sorted(probabilities, reverse=True)
    word, probability = model.topics(1, ["word2"])[0][0]
    matrix = model.topic_word(["word2"])
    assert probability == pytest.approx(matrix[0].max())
    assert word == model.vocabulary_.display(int(matrix[0].argmax()))


def test_the_place_that_rare_words_share_is_no_word_of_a_topic(model: KLDA):
    words = [word for topic in model.topics(n_words=10**6) for word, _ in topic]
    assert len(words) == model.n_topics_ * (len(model.vocabulary_) - 1)
    assert PLACEHOLDER not in words


def test_keyword_probabilities_sum_to_one_over_all_sets(model: KLDA):
    texts = model.candidates_.texts
    total = sum(
        np.exp(model.keyword_log_probability(chosen))
        for size in range(1, 5)
        for chosen in itertools.combinations(texts, size)
    )
    assert total == pytest.approx(1)


def test_unknown_keywords_and_foreign_corpora_are_refused(model: KLDA, corpus: Corpus):
    with pytest.raises(DataError, match=r"tariff: not among .* --candidates tariff .*with_candidates"):
        model.topic_word(["word1", "tariff"])
    with pytest.raises(DataError, match="at least one"):
        model.word_distribution([])
    with pytest.raises(DataError, match="vocabulary"):
        model.transform(corpus_of(random_data(n_words=9)))


def test_documents_get_topic_weights_and_scores(model: KLDA, corpus: Corpus):
    weights = model.transform(corpus)
    assert weights.shape == (60, 2)
    np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-5)
    assert model.log_likelihood(corpus) < 0
    assert model.completion(corpus) == model.completion(corpus) < 0


def test_a_model_samples_documents_like_those_it_learned_from(model: KLDA, tmp_path: Path):
    drawn = model.sample(400)
    assert len(drawn) == 400
    assert drawn.topic_weights.shape == (400, 2)
    assert (drawn.observed.lengths > 0).all()
    assert drawn.counts.sum() / 400 == pytest.approx(model.mean_length_, rel=0.1)
    fixed = model.sample(10, length=6, poisson=False)
    assert (np.add.reduceat(fixed.counts, fixed.indptr[:-1]) == 6).all()
    model.save(tmp_path)
    again = KLDA.load(tmp_path).sample(400)
    assert (again.words == drawn.words).all()


def test_a_stopped_fit_resumes_to_the_same_model(model: KLDA, corpus: Corpus, tmp_path: Path):
    def interrupt(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        if stage == "training" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KLDA(**QUICK).fit(corpus, checkpoint=tmp_path, progress=interrupt)
    resumed = KLDA(**QUICK).fit(corpus, checkpoint=tmp_path, resume=True)
    for name, tensor in resumed.parameters_.tensors().items():
        assert torch.equal(tensor, model.parameters_.tensors()[name]), name
    assert resumed.history_ == model.history_


def test_resuming_asks_for_the_same_settings_and_corpus(corpus: Corpus, tmp_path: Path):
    KLDA(**QUICK).fit(corpus, checkpoint=tmp_path)
    with pytest.raises(TrainingError, match="batch_size was 16 in the checkpoint and is 8 now"):
        KLDA(**(QUICK | {"batch_size": 8})).fit(corpus, checkpoint=tmp_path, resume=True)
    with pytest.raises(TrainingError, match="another corpus"):
        KLDA(**QUICK).fit(corpus.take(np.arange(50)), checkpoint=tmp_path, resume=True)
    with pytest.raises(SettingError, match="checkpoint folder"):
        KLDA(**QUICK).fit(corpus, resume=True)


def test_resume_without_a_checkpoint_starts_from_the_beginning(model: KLDA, corpus: Corpus, tmp_path: Path):
    fresh = KLDA(**QUICK).fit(corpus, checkpoint=tmp_path / "none", resume=True)
    assert fresh.history_ == model.history_


def test_a_new_window_may_bring_new_words_and_candidates(model: KLDA, corpus: Corpus):
    wider = replace(
        corpus,
        vocabulary=corpus.vocabulary.extend({"fresh": {"fresh": 9}}),
        candidates=type(corpus.candidates)((corpus.candidates[1], *corpus.candidates)),
    )
    wider = replace(wider, candidates=wider.candidates | type(corpus.candidates).of("fresh"))
    moved = {"word2": 0, "word1": 1, "word3": 2, "word4": 3}
    column = np.array([moved[text] for text in corpus.candidates.texts], dtype=np.int32)
    lists = [sorted(column[row].tolist()) for row in map(np.array, corpus.observed.lists())]
    wider = replace(wider, observed=Ragged.of(lists))
    grown = KLDA(**(QUICK | {"pretraining_iterations": 0, "max_iterations": 0})).fit(corpus)
    before = grown.topic_word(["word2", "word3"])
    grown.partial_fit(wider)
    after = grown.topic_word(["word2", "word3"])
    assert after.shape == (2, 14)
    np.testing.assert_allclose(after[:, :13] / after[:, :13].sum(1, keepdims=True), before, rtol=1e-4)
    assert (after[:, 13] > 0).all()
    assert grown.topic_word(["fresh"]).shape == (2, 14)


def test_a_new_word_starts_with_the_share_that_its_frequency_suggests(corpus: Corpus):
    grown = KLDA(**(QUICK | {"pretraining_iterations": 0, "max_iterations": 0, "held_out": 0})).fit(corpus)
    grown.parameters_.topic_word.output.data[-1] += 7.0  # what was learnt may lie on any scale
    grown.partial_fit(replace(corpus, vocabulary=corpus.vocabulary.extend({"fresh": {"fresh": 9}})))
    unigram = grown.word_frequency_ + 0.5
    for keyword in grown.candidates_:
        known = grown.topic_word([keyword])[:, -1]
        assert known == pytest.approx(np.full(2, unigram[-1] / unigram.sum()), rel=0.5)


def test_a_new_window_goes_on_from_what_is_known(corpus: Corpus):
    longer = QUICK | {"pretraining_iterations": 60, "learning_rate": 0.03}
    grown = KLDA(**longer).fit(corpus)
    at_first = grown.history_[0][2]
    learned = max(bound for stage, _, bound in grown.history_ if stage == "pretraining")
    wider = replace(corpus, vocabulary=corpus.vocabulary.extend({"fresh": {"fresh": 9}}))
    grown.partial_fit(wider)
    assert learned > at_first + 0.05
    assert grown.history_[0][2] == pytest.approx(learned, abs=0.02)
    assert len(grown.vocabulary_) == len(corpus.vocabulary) + 1
    assert grown.transform(wider).shape == (60, 2)


def test_a_window_whose_vocabulary_is_another_is_refused(corpus: Corpus):
    grown = KLDA(**QUICK).fit(corpus)
    with pytest.raises(DataError, match="does not extend"):
        grown.partial_fit(corpus_of(random_data(n_words=9)))


def test_partial_fit_of_a_new_model_is_fit(model: KLDA, corpus: Corpus):
    assert KLDA(**QUICK).partial_fit(corpus).history_ == model.history_


def test_the_number_of_topics_can_be_found_with_plain_lda(corpus: Corpus):
    found = KLDA(**(QUICK | {"n_topics": "auto"})).fit(corpus)
    assert found.n_topics == "auto"
    assert found.n_topics_ == len(found.topics()) >= 2


def test_the_paper_s_recipe_is_literal():
    paper = KLDA.paper()
    assert (paper.n_topics, paper.batch_size, paper.keyword_penalty, paper.hidden) == (5, 64, 2.0, (32, 32))
    assert (paper.relaxation, paper.partition, paper.negative_weight) == ("gumbel", "gibbs", 0.1)
    assert (paper.learning_rate, paper.keyword_learning_rate, paper.l2) == (0.001, 0.005, 0.1)
    assert (paper.pretraining_iterations, paper.topic_prior, paper.frequency_penalty) == (2500, "fixed", 1.0)
    assert (paper.batches, paper.early_stop, paper.held_out) == ("uniform", None, 0.0)
    assert (paper.max_iterations, paper.gibbs_period, paper.gibbs_steps) == (10_000, 100, 1000)
    assert (paper.cooling, paper.lowest_temperature, paper.threshold) == (1e-4, 0.25, 0.5)
    assert KLDA.paper(word_weight="vocabulary").word_weight == "vocabulary"


def test_the_paper_s_recipe_runs_to_its_last_iteration(corpus: Corpus):
    done: list[tuple[str, int]] = []
    paper = KLDA.paper(pretraining_iterations=4, max_iterations=6, check_every=3)
    paper.fit(corpus, progress=lambda stage, n, *_, **__: done.append((stage, n)))
    assert done[-1] == ("training", 6)
    assert paper.history_ == [], "no document is held out"


def test_the_paper_s_recipe_can_watch_the_words(corpus: Corpus):
    paper = KLDA.paper(pretraining_iterations=4, max_iterations=6, check_every=3, early_stop="words", held_out=0.2)
    assert len(paper.fit(corpus).history_) > 2


def test_recent_documents_can_count_more(corpus: Corpus, model: KLDA):
    recent = KLDA(**QUICK, half_life=0.2).fit(corpus)
    assert not np.allclose(recent.word_frequency_, model.word_frequency_)


def _relabelled(corpus: Corpus, words: np.ndarray, keywords: np.ndarray) -> Corpus:
    """The corpus with word w called words[w] and candidate j put at column keywords[j]."""
    documents = corpus.documents
    row = np.repeat(np.arange(len(corpus)), np.diff(documents.indptr))
    order = np.lexsort((words[documents.words], row))
    column = [corpus.candidates[int(j)] for j in np.argsort(keywords)]
    names = np.array(corpus.vocabulary.words)[np.argsort(words)].tolist()
    return replace(
        corpus,
        documents=replace(
            documents,
            words=words[documents.words][order].astype(np.int32),
            counts=documents.counts[order],
        ),
        observed=Ragged.of([sorted(keywords[list(map(int, r))].tolist()) for r in corpus.observed.lists()]),
        vocabulary=type(corpus.vocabulary).of({name: {name: 10} for name in names[1:]}),
        candidates=type(corpus.candidates)(tuple(column)),
    )


def test_relabelling_words_and_keywords_relabels_the_model(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    """Started from the relabelled parameters, training ends at the relabelled parameters."""
    from klda.model import initialise as module

    generator = np.random.default_rng(0)
    words = np.concatenate([[0], 1 + generator.permutation(12)])
    keywords = generator.permutation(4)
    start = module.initial_parameters

    def relabelled_start(*args, **kwargs):
        parameters = start(*args, **kwargs)
        back_words, back_keywords = torch.from_numpy(np.argsort(words)), torch.from_numpy(np.argsort(keywords))
        output = parameters.topic_word.output
        unigram = output.data[-1].clone()  # computed from the data, hence relabelled already
        output.data = output.data[:, :, back_words].contiguous()
        output.data[-1] = unigram
        parameters.topic_word.layers.keyword.data = parameters.topic_word.layers.keyword.data[back_keywords]
        return parameters

    settings = QUICK | {"enumeration_limit": 4}  # no document is crowded, so no keyword is drawn by its position
    plain = KLDA(**settings).fit(corpus)
    monkeypatch.setattr(module, "initial_parameters", relabelled_start)
    moved = KLDA(**settings).fit(_relabelled(corpus, words, keywords))
    for keyword in corpus.candidates:
        one, other = plain.topic_word([keyword]), moved.topic_word([keyword])
        np.testing.assert_allclose(other[:, words], one, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(
        moved.keyword_log_probability(["word1"]), plain.keyword_log_probability(["word1"]), rtol=1e-4
    )


def test_a_corpus_without_a_token_cannot_judge_a_model():
    corpus = corpus_of(random_data())
    model = KLDA(**QUICK).fit(corpus)
    with pytest.raises(DataError, match="no token to judge the model by"):
        model.log_likelihood(corpus.take([]))


def test_a_model_tells_whether_training_helped():
    model = KLDA(**QUICK).fit(corpus_of(random_data()))
    model.history_ = [
        ("pretraining", 0, -5.0),
        ("pretraining", 10, -5.5),
        ("training", 0, -5.0),
        ("training", 10, -5.1),
    ]
    assert not model.has_learnt_
    model.history_.append(("training", 20, -4.9))
    assert model.has_learnt_
