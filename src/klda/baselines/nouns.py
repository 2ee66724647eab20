"""Which words are nouns, judged by how they are used in a few posts each. Works without any download."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from klda.baselines.places import Tagger
from klda.errors import MissingExtraError, SettingError
from klda.extras import require
from klda.text.corpus import Corpus
from klda.text.tokens import normalise
from klda.types import Keyword

Tagged = list[tuple[str, str]]
"""Tokens with their part of speech, in the tags of the Penn Treebank."""
AT_ONCE = 3
"""Words looked at together for each noun wanted: about half of the frequent words are nouns."""
LONGEST = 100
"""Characters of a word that may be proposed; longer runs of letters are noise, and no platform takes them."""


def frequent_nouns(corpus: Corpus, limit: int, tagger: Tagger = "pattern") -> list[Keyword]:
    """The nouns that the most documents contain, as keywords."""
    return nouns_by(document_frequency(corpus), corpus, limit, tagger)


def nouns_by(score: NDArray[Any], corpus: Corpus, limit: int, tagger: Tagger = "pattern") -> list[Keyword]:
    """The nouns of highest score (V,) above 0, as keywords; numbers, tags and names of accounts are no nouns.

    Words are looked at from the highest score on, until as many nouns as wanted are found.
    """
    words = corpus.vocabulary.words
    plain = np.array([1 < len(word) <= LONGEST and word.replace("-", "").isalpha() for word in words])
    order = np.argsort(-np.where(plain, score, 0), kind="stable")
    order = order[np.where(plain, score, 0)[order] > 0]
    found: list[Keyword] = []
    for start in range(0, len(order), AT_ONCE * limit):
        some = order[start : start + AT_ONCE * limit]
        found += [corpus.vocabulary.keyword(int(word)) for word in some[nouns(corpus, some, tagger=tagger)]]
        if len(found) >= limit:
            break
    return found[:limit]


def document_frequency(corpus: Corpus) -> NDArray[np.int64]:
    """How many documents contain each word. # (V,)"""
    return np.bincount(corpus.documents.words, minlength=len(corpus.vocabulary))


def nouns(
    corpus: Corpus, words: Sequence[int] | NDArray[Any], *, tagger: Tagger = "pattern", posts_per_word: int = 20
) -> NDArray[np.bool_]:
    """Whether each of these words of the vocabulary is a noun or proper noun in most of its uses. # (len(words),)

    A word is judged by at most `posts_per_word` posts, spread evenly over the corpus: that takes seconds where tagging
    everything takes minutes.
    """
    vocabulary = corpus.vocabulary
    wanted = {form: int(word) for word in words for form in vocabulary.forms[int(word)]}
    uses = {int(word): [0, 0] for word in words}  # of each word: all uses, uses as a noun
    for tagged in _tag(corpus.posts.texts(_posts_with(corpus, np.asarray(words), posts_per_word)), tagger):
        for token, part in tagged:
            word = wanted.get(normalise(token))
            if word is not None:
                uses[word][0] += 1
                uses[word][1] += part.startswith("NN")
    return np.array([nouns_ > all_ / 2 for all_, nouns_ in uses.values()], dtype=np.bool_)


def _posts_with(corpus: Corpus, words: NDArray[Any], each: int) -> NDArray[np.int64]:
    """Rows of posts that together show every word up to `each` times."""
    documents = corpus.documents
    hits = np.flatnonzero(np.isin(documents.words, words))
    rows = np.searchsorted(documents.indptr, hits, side="right") - 1
    chosen: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for word in words:
        mine = rows[documents.words[hits] == word]
        spread = np.linspace(0, len(mine) - 1, min(each, len(mine))).astype(np.int64)
        chosen.append(mine[spread])
    return documents.post[np.unique(np.concatenate(chosen))]


def _tag(texts: Iterable[str], tagger: Tagger) -> Iterator[Tagged]:
    taggers: dict[str, Callable[[], Callable[[str], Tagged]]] = {"pattern": _pattern, "spacy": _spacy}
    if tagger not in taggers:
        raise SettingError(f"no tagger {tagger!r}; there are {', '.join(taggers)}")
    return map(taggers[tagger](), texts)


@cache
def _pattern() -> Callable[[str], Tagged]:
    from textblob.en.taggers import PatternTagger  # slow to import: it brings NLTK

    tag: Callable[[str], Tagged] = PatternTagger().tag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its lexicon's file open while it reads it
        tag("read the lexicon now")
    return tag


@cache
def _spacy() -> Callable[[str], Tagged]:
    require("spacy", "the tagger spacy (pattern is another one)")
    import spacy

    try:
        language = spacy.load("en_core_web_sm", disable=["parser", "ner", "lemmatizer"])
    except OSError as error:
        raise MissingExtraError(
            f"the tagger spacy needs the model en_core_web_sm ({error}); install the model, or use the tagger pattern"
        ) from error
    return lambda text: [(token.text, token.tag_) for token in language(text)]
