"""Every setting of the model is documented, and one that cannot be meant is refused by name."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest

from klda.errors import SettingError
from klda.model.klda import KLDA
from klda.model.model_settings import ModelSettings
from tests.unit.model.small import QUICK, corpus_of, random_data


def test_every_setting_is_a_documented_parameter_with_the_same_default():
    parameters = inspect.signature(KLDA).parameters
    for field in fields(ModelSettings):
        assert parameters[field.name].default == field.default, field.name
    assert set(parameters) == {f.name for f in fields(ModelSettings)} | {"half_life"}
    for name in parameters:
        assert f"    {name} : " in (KLDA.__doc__ or ""), name


def test_a_bad_setting_is_named():
    data = corpus_of(random_data())
    for name, value in {"n_topics": 0, "batch_size": 0, "relaxation": "magic", "learning_rate": -1}.items():
        with pytest.raises(SettingError, match=name):
            KLDA(**(QUICK | {name: value})).fit(data)


@pytest.mark.parametrize(
    "wrong",
    [{"random_state": -1}, {"random_state": None}, {"n_topics": 2.5}, {"batch_size": True}, {"n_topics": "five"}],
)
def test_a_setting_that_is_no_whole_number_is_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        KLDA(**wrong).fit(corpus_of(random_data()))


@pytest.mark.parametrize("n_topics", [2, "auto"])
def test_a_seed_beyond_what_generators_take_is_refused_with_its_range(n_topics):
    with pytest.raises(SettingError, match=r"random_state must be at least 0 and below 2\^63, got 118059"):
        KLDA(**(QUICK | {"random_state": 2**70, "n_topics": n_topics})).fit(corpus_of(random_data()))
    largest = KLDA(**(QUICK | {"random_state": 2**63 - 1, "n_topics": n_topics})).fit(corpus_of(random_data()))
    assert largest.n_topics_ >= 2


def test_a_seed_of_numpy_is_a_seed():
    corpus = corpus_of(random_data())
    one, other = (KLDA(**(QUICK | {"random_state": seed})).fit(corpus) for seed in (3, np.int64(3)))
    assert one.log_likelihood(corpus) == other.log_likelihood(corpus)
