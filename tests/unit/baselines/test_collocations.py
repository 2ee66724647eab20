from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.baselines.collocations import find_phrases
from klda.errors import SettingError

WORDS = ["computer", "virus", "found", "flu", "#tag", "the"]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=12))
def test_phrases_and_their_npmi_are_those_of_plain_counting(texts: list[list[str]]) -> None:
    singles = Counter(word for text in texts for word in text)
    pairs = Counter(pair for text in texts for pair in pairwise(text))
    expected = {}
    for (a, b), n in pairs.items():
        if a != b and not {a, b} & {"#tag", "the"} and n >= 2:
            both = n / pairs.total()
            chance = singles[a] * singles[b] / singles.total() ** 2
            expected[f"{a} {b}"] = 1.0 if both == 1 else math.log(both / chance) / -math.log(both)
    found = {p.text: p.npmi for p in find_phrases([" ".join(text) for text in texts], min_count=2, min_npmi=-1)}
    assert found == pytest.approx({text: npmi for text, npmi in expected.items() if npmi >= -1})


def test_the_tightest_come_first_and_are_keywords() -> None:
    found = find_phrases(["social security office", "social security", "an office", "my office"] * 5, min_count=5)
    assert found[0].text == "social security"
    assert found[0].keyword.forms == ("social security",)


def test_texts_beyond_one_chunk_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["flu season", "a flu", "computer virus", "season", "flu season"] * 3
    whole = find_phrases(texts, min_count=2)
    monkeypatch.setattr("klda.baselines.collocations._CHUNK", 2)
    assert find_phrases(texts, min_count=2) == whole


@pytest.mark.parametrize("wrong", [{"min_count": 0}, {"min_npmi": 2.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=str(next(iter(wrong.values())))):
        find_phrases([], **wrong)  # type: ignore[arg-type]
