from __future__ import annotations

import numpy as np
import pytest

from klda.advice.situation import Situation
from klda.baselines import klda_paper
from klda.baselines.algorithm2 import extend
from klda.baselines.klda_paper import OF_MODEL, KLDAPaper
from klda.model.klda import KLDA
from klda.text.recode import most_frequent_vocabulary, recoded

QUICK = {"pretraining": 4, "iterations": 2}


@pytest.fixture(scope="module")
def model(history):
    return KLDA.paper(pretraining_iterations=4, max_iterations=0).fit(
        recoded(history, most_frequent_vocabulary(history, 300))
    )


def asked(policy, history, current, candidates):
    situation = Situation(history=history, current=current, candidates=candidates)
    return policy.propose(situation, generator=np.random.default_rng(0))


def test_every_setting_of_training_has_the_paper_s_value():
    paper, policy = KLDA.paper(), KLDAPaper()
    assert {name: getattr(policy, name) for name in OF_MODEL} == {name: getattr(paper, name) for name in OF_MODEL}
    assert (policy.pretraining, policy.iterations) == (paper.pretraining_iterations, paper.max_iterations)
    assert (policy.high_frequency, policy.retention, policy.loss_penalty) == (0.001, 0.5, 1.0)
    assert policy.min_frequency == 0.005


def test_every_setting_reaches_training(history, current, candidates, monkeypatch):
    given = []
    fit = KLDA.fit
    monkeypatch.setattr(KLDA, "fit", lambda self, *a, **k: given.append(self.get_params()) or fit(self, *a, **k))
    changed = {"word_weight": "vocabulary", "batches": "stratified", "l2": 0.2, "n_topics": 2, "hidden": (4, 4)}
    asked(KLDAPaper(**QUICK, **changed), history, current, candidates)
    assert {name: given[0][name] for name in changed} == changed


def test_the_high_frequency_threshold_is_the_printed_one_unless_it_adapts(
    history, current, candidates, model, monkeypatch
):
    used = []
    monkeypatch.setattr(
        klda_paper, "extend", lambda *a, **options: used.append(options["threshold"]) or extend(*a, **options)
    )
    asked(KLDAPaper(model=model), history, current, candidates)
    asked(KLDAPaper(model=model, high_frequency=None), history, current, candidates)
    assert used == [0.001, None]


def test_a_given_model_is_used_and_none_is_trained(history, current, candidates, model, monkeypatch):
    monkeypatch.setattr(KLDA, "fit", lambda *_, **__: pytest.fail("a model was trained"))
    found = asked(KLDAPaper(model=model), history, current, candidates)
    words = model.word_distributions(list(candidates)).astype(np.float64)
    columns = np.array([candidates.index(keyword) for keyword in current])
    frequency = np.bincount(history.window(-1).observed.values, minlength=len(candidates)) / len(history.window(-1))
    extensions = extend(words, frequency, columns, top=2, threshold=0.001)
    expected = {
        keyword.text: tuple(candidates[int(j)].text for j in row)
        for keyword, row in zip(current, extensions.ranked, strict=True)
    }
    assert dict(found.per_keyword) == expected
