from __future__ import annotations

from datetime import UTC, datetime

import pytest

from klda import extras
from klda.baselines.nouns import document_frequency, frequent_nouns, nouns
from klda.errors import MissingExtraError, SettingError
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import Post

TEXTS = [
    "The hospital quickly treated a nurse.",
    "A nurse walked to the hospital.",
    "Patients quickly thanked the nurse!",
]


@pytest.fixture(scope="module")
def ward() -> Corpus:
    posts = [Post(str(i), datetime(2026, 1, 5 + i, tzinfo=UTC), text) for i, text in enumerate(TEXTS)]
    return Corpus.from_posts(posts, ["nurse"], settings=TextSettings(min_count=1))


def test_nouns_are_told_from_verbs_and_adverbs(ward):
    words = list(range(1, len(ward.vocabulary)))
    found = {ward.vocabulary.display(word): noun for word, noun in zip(words, nouns(ward, words), strict=True)}
    assert found["nurse"]
    assert found["hospital"]
    assert found["patients"]
    assert not found["quickly"]
    assert not found["treated"]


def test_nouns_are_looked_for_among_all_words():
    adverbs = " ".join(["quickly", "slowly", "happily", "sadly", "badly", "nicely", "rarely", "fully"])
    text = f"{adverbs} and the nurse spoke"
    posts = [Post(str(i), datetime(2026, 1, 5, i, tzinfo=UTC), text if i < 5 else adverbs) for i in range(10)]
    corpus = Corpus.from_posts(posts, ["nurse"], settings=TextSettings(min_count=1))
    everything = corpus.with_candidates(["quickly"])
    assert [keyword.text for keyword in frequent_nouns(everything, 1)] == ["nurse"]


def test_the_most_frequent_nouns_come_first_with_the_forms_of_their_stem(ward):
    assert [keyword.text for keyword in frequent_nouns(ward, 2)] == ["nurse", "hospital"]


def test_document_frequency_counts_documents_not_tokens(ward):
    counts = document_frequency(ward)
    assert counts[ward.vocabulary.index("nurs")] == 3


def test_an_unknown_tagger_is_an_error(ward):
    with pytest.raises(SettingError, match="pattern, spacy"):
        nouns(ward, [1], tagger="guess")  # type: ignore[arg-type]


def test_spacy_is_an_extra(ward, monkeypatch):
    monkeypatch.setattr(extras, "_is_installed", lambda name: False)
    with pytest.raises(MissingExtraError, match=r"klda\[spacy\]"):
        nouns(ward, [1], tagger="spacy")
