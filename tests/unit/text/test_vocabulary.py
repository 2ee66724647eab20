from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import FormatError
from klda.text.vocabulary import PLACEHOLDER, Vocabulary

forms = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.dictionaries(st.text("xyz", min_size=1, max_size=3), st.integers(1, 50), min_size=1, max_size=4),
    max_size=6,
)


@given(forms)
def test_a_keyword_carries_just_enough_forms_to_cover_its_stem(stems: dict[str, dict[str, int]]) -> None:
    vocabulary = Vocabulary.of(stems)
    for stem, counts in stems.items():
        keyword = vocabulary.keyword(stem)
        covered = sum(counts[form] for form in keyword.forms)
        assert covered >= 0.95 * sum(counts.values())
        assert covered - counts[keyword.forms[-1]] < 0.95 * sum(counts.values())
        assert keyword.text == keyword.forms[0]


@given(forms, forms)
def test_extending_keeps_numbers_and_adds_counts(
    first: dict[str, dict[str, int]], second: dict[str, dict[str, int]]
) -> None:
    old = Vocabulary.of(first)
    new = old.extend(second)
    assert new.words[: len(old)] == old.words
    assert set(new.words) == {PLACEHOLDER, *first, *second}
    for word in new.words[1:]:
        expected = sum(first.get(word, {}).values()) + sum(second.get(word, {}).values())
        assert new.counts[new.index(word)] == expected


def test_a_vocabulary_survives_the_disk(tmp_path: Path) -> None:
    vocabulary = Vocabulary.of({"mask": {"masks": 2, "mask": 1}, "👍": {"👍": 1}}, language="es")
    vocabulary.save(tmp_path / "words.parquet")
    assert Vocabulary.load(tmp_path / "words.parquet") == vocabulary


def test_unknown_words_are_the_placeholder() -> None:
    vocabulary = Vocabulary.of({"mask": {"masks": 2}})
    assert vocabulary.index("wind") == 0
    assert vocabulary.display(0) == PLACEHOLDER
    np.testing.assert_array_equal(vocabulary.counts, [0, 2])


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.parquet").write_text("hello")
    with pytest.raises(FormatError, match=r"words\.parquet"):
        Vocabulary.load(tmp_path / "words.parquet")
