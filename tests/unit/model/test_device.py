"""Tensors live where `device` says, whatever else is the default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from klda.errors import SettingError
from klda.model.klda import KLDA
from tests.unit.model.small import QUICK, corpus_of, random_data

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {"relaxation": "gumbel", "partition": "gibbs", "theta_start": "log_frequency", "unigram_bias": False},
    "trained": {"relaxation": "enumerate", "topic_prior": "parametric", "enumeration_limit": 1},
    "categorical": {"relaxation": "categorical", "partition": "gibbs"},
}


@pytest.mark.parametrize("way", WAYS)
def test_no_tensor_is_left_to_the_default_device(way: str, tmp_path: Path):
    """A tensor that is made without a place would have no numbers here, and meeting others would fail."""
    corpus = corpus_of(random_data(n_words=13))
    expected = _used(KLDA(**QUICK, **WAYS[way]), corpus, tmp_path / "plain")
    with torch.device("meta"):
        assert torch.zeros(1).is_meta
        found = _used(KLDA(**QUICK, **WAYS[way]), corpus, tmp_path / "meta")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_device_that_is_not_there_is_named():
    absent = "xpu" if torch.cuda.is_available() else "cuda"
    for name in ("gpuu", absent):
        with pytest.raises(SettingError, match=f"device '{name}' cannot be used here"):
            KLDA(**QUICK, device=name).fit(corpus_of(random_data(n_words=13)))


def _used(model: KLDA, corpus: Any, folder: Path) -> list[Any]:
    """What a model answers after it was trained, stopped, saved, loaded and trained on."""
    keyword = corpus.candidates.texts[0]
    model.fit(corpus, checkpoint=folder)
    model.fit(corpus, checkpoint=folder, resume=True).save(folder)
    loaded = KLDA.load(folder).partial_fit(corpus)
    return [
        loaded.topic_word([keyword]),
        loaded.transform(corpus),
        loaded.log_likelihood(corpus),
        loaded.completion(corpus),
        loaded.keyword_log_probability([keyword]),
        loaded.sample(5).words,
    ]
