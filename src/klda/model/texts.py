"""Plain texts as a trained model sees them: its own words and its own candidates."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from klda.errors import DataError
from klda.model.data import TrainingData, longest_only
from klda.text.documents import Ragged
from klda.text.encoding import count_words, encode
from klda.text.matching import Matcher
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary
from klda.types import KeywordSet


def texts_of(given: object) -> list[str]:
    """The texts in what was given; an error that says how to give them."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"{given!r} is neither a corpus nor a list of texts; give texts as in transform(['some text'])")
    texts = list(given)
    for text in texts:
        if not isinstance(text, str):
            raise DataError(
                f"transform takes a Corpus or a list of texts, and {type(text).__name__} is neither; of posts, give "
                "[post.text for post in posts]"
            )
    return texts


def data_of_texts(
    texts: list[str], vocabulary: Vocabulary, candidates: KeywordSet, keyword_words: Ragged
) -> TrainingData:
    """The arrays of texts, read in the language of the vocabulary; words that it lacks are the placeholder."""
    # A vocabulary that was made without stemming has each word as its own only form.
    stemmed = any(forms != (word,) for word, forms in zip(vocabulary.words[1:], vocabulary.forms[1:], strict=True))
    settings = TextSettings(language=vocabulary.language, stem=stemmed)
    found = encode(pa.array(texts, type=pa.large_string()), Matcher(candidates), settings)
    stems = settings.stems(found.forms)
    word_of_form = np.fromiter(map(vocabulary.index, stems), dtype=np.int32, count=len(stems))
    numbered = Ragged(found.texts.indptr, word_of_form[found.texts.values])
    indptr, words, counts = count_words(numbered, len(vocabulary))
    return TrainingData(
        indptr,
        words,
        counts,
        longest_only(found.observed, candidates),
        keyword_words,
        len(vocabulary),
        np.ones(len(texts), dtype=np.float64),
    )
