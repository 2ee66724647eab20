"""Models on disk: they come back whole, cannot run code, and what is not a model is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from klda.errors import FormatError
from klda.model import checkpoint
from klda.model.klda import KLDA
from klda.text.corpus import Corpus
from tests.unit.model.small import QUICK


def test_a_saved_model_comes_back_whole(model: KLDA, corpus: Corpus, tmp_path: Path):
    model.save(tmp_path / "model")
    loaded = KLDA.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.vocabulary_ == model.vocabulary_
    assert loaded.candidates_ == model.candidates_
    assert loaded.history_ == model.history_
    assert (loaded.topic_word(["word1"]) == model.topic_word(["word1"])).all()
    assert loaded.log_likelihood(corpus) == model.log_likelihood(corpus)


def test_a_model_whose_settings_are_numbers_of_numpy_is_kept_while_it_trains_and_saved(corpus: Corpus, tmp_path: Path):
    numbers = {
        "n_topics": np.int64(3), "random_state": np.uint32(1), "learning_rate": np.float32(0.01),
        "patience": np.int8(2), "hidden": np.array([4, 4]), "half_life": np.float32(2), "unigram_bias": np.True_,
    }  # fmt: skip
    model = KLDA(**(QUICK | numbers)).fit(corpus, checkpoint=tmp_path / "checkpoint")
    model.save(tmp_path / "model")
    loaded = KLDA.load(tmp_path / "model")
    assert loaded.settings_ == model.settings_
    assert loaded.half_life == 2
    assert loaded.log_likelihood(corpus) == model.log_likelihood(corpus)


def test_what_is_saved_cannot_run_code(model: KLDA, tmp_path: Path):
    model.save(tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".safetensors"]


@pytest.mark.parametrize("part", ["parameters", "vocabulary", "candidates", "n_topics"])
def test_a_model_that_lacks_a_part_gives_our_error(model: KLDA, tmp_path: Path, part: str):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    record = json.loads(path.read_text())
    del record["facts"][part]
    path.write_text(json.dumps(record))
    with pytest.raises(FormatError, match=part):
        KLDA.load(tmp_path)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("n_topics", 10**9),
        ("parameters", {"hidden": [10**9, 8]}),
        ("candidates", []),
        ("candidates", [{"text": None, "forms": []}]),
        ("vocabulary", "words"),
        ("vocabulary", {"forms": []}),
    ],
)
def test_settings_that_do_not_fit_the_numbers_give_our_error(model: KLDA, tmp_path: Path, part: str, value: object):
    """And nothing of the size that they ask for is made."""
    model.save(tmp_path)
    tensors, facts = checkpoint.read(tmp_path, "model")
    changed = facts[part] | value if isinstance(value, dict) else value
    checkpoint.write(tmp_path, "model", tensors, facts | {part: changed})
    with pytest.raises(FormatError, match="not a model of this version"):
        KLDA.load(tmp_path)


@pytest.mark.parametrize("damage", ["gone", "one number", "one more"])
@pytest.mark.parametrize(
    "name", ["parameters.theta", "parameters.topic_word.output", "keyword_words.indptr", "word_frequency"]
)
def test_numbers_that_do_not_fit_the_settings_give_our_error(model: KLDA, tmp_path: Path, name: str, damage: str):
    model.save(tmp_path)
    tensors, facts = checkpoint.read(tmp_path, "model")
    found = tensors.pop(name).flatten()
    if damage != "gone":
        tensors[name] = found[:1] if damage == "one number" else torch.cat([found, found[:1]])
    checkpoint.write(tmp_path, "model", tensors, facts)
    with pytest.raises(FormatError, match="not a model of this version"):
        KLDA.load(tmp_path)


def test_a_model_of_numbers_that_are_none_gives_our_error(model: KLDA, tmp_path: Path):
    model.save(tmp_path)
    tensors, facts = checkpoint.read(tmp_path, "model")
    tensors["parameters.theta"][1] = torch.nan
    checkpoint.write(tmp_path, "model", tensors, facts)
    with pytest.raises(FormatError, match="theta holds what is no finite number"):
        KLDA.load(tmp_path)


@pytest.mark.parametrize("value", [-1, 13])
def test_keywords_of_words_that_there_are_not_give_our_error(model: KLDA, tmp_path: Path, value: int):
    model.save(tmp_path)
    tensors, facts = checkpoint.read(tmp_path, "model")
    tensors["keyword_words.values"][0] = value
    checkpoint.write(tmp_path, "model", tensors, facts)
    with pytest.raises(FormatError, match="not words of the vocabulary"):
        KLDA.load(tmp_path)
