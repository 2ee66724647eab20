from __future__ import annotations

import json
from math import isnan

import numpy as np
import pytest

from klda.errors import DataError
from klda.evaluation.open_loop import open_loop_case
from klda.evaluation.perplexity import MODELS, PerplexityTask, cross_fitted, gap_closed, measure_perplexity, unigram
from klda.model.bags import TokenBags
from klda.model.klda import KLDA
from klda.model.lda import fit_lda

QUICK = {"pretraining_iterations": 60, "max_iterations": 0, "batch_size": 64, "held_out": 0}


@pytest.fixture(scope="module")
def case(archive, health):
    return open_loop_case(
        archive, health, 6, weeks=4, history="full", n_candidates=12, generator=np.random.default_rng(0)
    )


@pytest.fixture(scope="module")
def study(case):
    return measure_perplexity(case.history, case.test, seed=1, folds=3, settings=QUICK)


def test_training_helps_and_so_does_knowing_the_week(study):
    completion = {name: fit.completion for name, fit in study.models.items()}
    assert tuple(study.models) == MODELS
    assert completion["untrained"] < completion["klda"]
    assert completion["untrained"] < min(completion["unigram"], completion["lda-same"])
    assert completion["lda-last"] < completion["lda-same"] < 0
    assert all(fit.log_likelihood < 0 for fit in study.models.values())


def test_the_gap_is_measured_from_the_unigram_to_the_same_window(study):
    scores = [study.models[name].completion for name in ("klda", "unigram", "lda-same")]
    assert study.gap_closed.completion == pytest.approx(gap_closed(*scores), nan_ok=True)
    assert gap_closed(-6.5, -7.0, -6.0) == 0.5
    assert isnan(gap_closed(-1.0, -2.0, -3.0))


def test_topics_of_both_models_are_judged(study):
    assert set(study.topics) == {"klda", "lda-last"}
    assert all(-1 <= quality.npmi <= 1 and 0 < quality.diversity <= 1 for quality in study.topics.values())


def test_the_study_is_plain_data(study):
    assert json.loads(json.dumps(study.to_dict(), allow_nan=False))["models"].keys() == study.models.keys()


def test_the_same_seed_gives_the_same_scores(case, study):
    assert measure_perplexity(case.history, case.test, seed=1, folds=3, settings=QUICK) == study


def test_every_model_is_asked_for_the_same_tokens(case):
    """A unigram written as a KLDA without keywords' influence completes like the unigram itself."""
    start = KLDA(n_topics=1, pretraining_iterations=0, max_iterations=0).fit(case.history)
    parameters = start.parameters_
    parameters.topic_word.output.data[:-1] = 0  # only the bias, the log unigram, is left
    task = PerplexityTask.of(case.test, seed=5)
    ours = unigram(case.history)
    expected = ours.completion(task.documents, task.target, task.possible).sum() / task.target.sum()
    assert start.completion(case.test, random_state=5) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("copies", [1, 4])
def test_a_text_is_never_scored_by_a_model_that_saw_it_or_a_copy(copies):
    """Each document has a word of its own: fitted with it, LDA expects it; cross-fitted, it cannot."""
    documents = TokenBags.of([[word, word, word] for word in range(12)] * copies)
    task = PerplexityTask(documents, np.ones(len(documents.words)), np.ones(12, dtype=bool))
    fair = cross_fitted(task, documents, np.arange(len(documents)), 12, 2, folds=3, seed=0)
    seen = fit_lda(documents, 12, 2, seed=0)
    own = seen.log_likelihood(documents).sum() / documents.counts.sum()
    assert fair.log_likelihood < own - 1


def test_to_score_a_part_of_a_window_changes_no_document_s_score(case):
    whole = PerplexityTask.of(case.test, seed=3)
    everything = np.arange(len(case.test))

    def total(chosen):
        task = whole.take(np.isin(everything, chosen))
        fit = cross_fitted(task, case.test.documents, chosen, len(case.test.vocabulary), 2, folds=3, seed=0)
        return fit.completion * task.target.sum()

    parts = total(everything[::3]) + total(np.delete(everything, everything[::3]))
    assert parts == pytest.approx(total(everything), rel=1e-4)  # an E-step ends when documents on average stand still


def test_too_few_documents_are_refused(case):
    with pytest.raises(DataError, match="too few"):
        measure_perplexity(case.history, case.test.take(np.arange(2)), seed=0)
