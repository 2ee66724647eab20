"""A first list: words of known posts that mean a subject told in words, before there is any keyword.

Words are looked at twice. The subject itself, the words nearest to it in meaning and those that tell example posts from
others take the place of a list. All words are then judged against this list by the relevance that ships.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from klda.advice.advise import judged
from klda.advice.choose import covered_by, worth
from klda.advice.constants import (
    CLOSE_COMPANY,
    CLOSE_MEANING,
    FEWEST_POSTS,
    FIRST_WORDS,
    LEAST_FIRST,
    LEAST_KEPT,
    RARE_FIRST,
    RECENT_WINDOWS,
    SHORTLIST,
    SURE_POSTS,
    THIN_POSTS,
    VOLUME_FIRST,
)
from klda.advice.explanation import Example
from klda.advice.features import NAMES, Features
from klda.advice.reasons import in_words, note
from klda.advice.terms import NO_TERM, Terms, terms_of
from klda.arrays import Bools, Floats, Ints
from klda.cells import html_paragraph, html_table
from klda.errors import SettingError
from klda.text.corpus import Corpus
from klda.text.general_frequency import RAREST, general_frequencies
from klda.text.languages import segmented
from klda.text.text_settings import TextSettings
from klda.text.tokens import cut, tokens_of
from klda.text.vectors import word_vectors
from klda.types import Keyword, KeywordSet

COLUMNS = ("", "keyword", "posts", "why", "example")
EXAMPLES = 2
"""Posts that show what a word brings."""


@dataclass(frozen=True)
class FirstWord:
    """A word of a first list, and why it is there."""

    keyword: Keyword
    posts: int
    """Known recent posts that have it."""
    relevance: float
    """Probability that it is on the subject."""
    text: str
    """The reason in words."""
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class FirstList:
    """Words for a subject told in words, the best first, for a person to choose from.

    >>> found = FirstList("health", 40, (FirstWord(Keyword("doctor"), 12, 0.9, "Close in meaning to the subject"),))
    >>> found.keywords.texts, found.picked(1).texts
    (('doctor',), ('doctor',))
    """

    subject: str
    posts: int
    """Known recent posts that were looked at."""
    words: tuple[FirstWord, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        shown = ", ".join(word.keyword.text for word in self.words) or "no word fits"
        return f"<FirstList for {self.subject!r}: {shown}>"

    def _repr_html_(self) -> str:
        """The same in a notebook: a row for each word."""
        lines = [html_paragraph(self.headline, strong=True), *(html_paragraph(f"Note: {text}") for text in self.notes)]
        return "\n".join([*lines, html_table(COLUMNS, self.rows)] if self.words else lines)

    @property
    def headline(self) -> str:
        """What was found, in one sentence."""
        plural = "" if len(self.words) == 1 else "s"
        return f"{len(self.words) or 'No'} word{plural} for {self.subject!r} in {self.posts:,} posts"

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """A row for each word, numbered from 1; see `COLUMNS`."""
        return [
            (n, word.keyword.text, word.posts, word.text, word.examples[0].text if word.examples else "")
            for n, word in enumerate(self.words, 1)
        ]

    @property
    def keywords(self) -> KeywordSet:
        """All words, each with the forms that it was counted by."""
        return KeywordSet(tuple(word.keyword for word in self.words))

    def picked(self, *numbers: int) -> KeywordSet:
        """The words with these numbers; the first has number 1."""
        for number in numbers:
            if not 1 <= number <= len(self.words):
                raise SettingError(f"there is no word {number} on the list; it has {len(self.words)}")
        return KeywordSet(tuple(self.words[number - 1].keyword for number in numbers))

    def to_dict(self) -> dict[str, object]:
        """The list as plain data."""
        words = [
            {
                "number": n,
                "keyword": word.keyword.text,
                "forms": list(word.keyword.forms),
                "posts": word.posts,
                "relevance": round(word.relevance, 4),
                "why": word.text,
                "examples": [{"id": example.id, "text": example.text} for example in word.examples],
            }
            for n, word in enumerate(self.words, 1)
        ]
        return {"subject": self.subject, "posts": self.posts, "words": words, "notes": list(self.notes)}


def subject_keyword(subject: str, settings: TextSettings) -> KeywordSet:
    """The subject as one keyword: its words from the first to the last that is no function word.

    >>> subject_keyword("The electric cars in Norway", TextSettings()).texts
    ('electric cars in norway',)
    """
    words = _content_words(subject, settings)
    if not words:
        raise SettingError(f"the subject {subject!r} names nothing; say it in words, as in 'electric cars in Norway'")
    tokens = segmented(tokens_of(cut([subject])), settings.language)
    said = tokens.distinct.gather(tokens.texts.values).to_list()
    last = len(said) - said[::-1].index(words[-1])
    between = said[said.index(words[0]) : last]
    return KeywordSet.of(" ".join(word for word in between if word in words or NO_TERM.match(word) is None))


def _content_words(subject: str, settings: TextSettings) -> list[str]:
    """The words of a subject that are no function words, in order."""
    tokens = segmented(tokens_of(cut([subject])), settings.language)
    said = tokens.distinct.gather(tokens.texts.values)
    words = said.filter(settings.keeps(said)).to_list()
    return [word for word in words if NO_TERM.match(word) is None]


def first_list(
    corpus: Corpus, subject: str, examples: Sequence[str] = (), *, most: int = 10, use_vectors: bool = True
) -> FirstList:
    """The words of recent posts that are likely on a subject told in words, at most so many, the best first.

    `examples` are texts of posts on the subject.

    >>> from datetime import UTC, datetime
    >>> from klda.types import Post
    >>> posts = [Post(str(n), datetime(2026, 1, 5, n % 24, tzinfo=UTC), "a ballot for voters") for n in range(60)]
    >>> found = first_list(Corpus.from_posts(posts, ["ballot"]), "ballot")
    >>> found.keywords.texts[0], found.words[0].posts
    ('ballot', 60)
    """
    language = corpus.vocabulary.language
    whole = subject_keyword(subject, corpus.settings)
    recent = _recent(corpus).with_candidates(whole)
    terms = terms_of(recent, whole)
    in_examples = _in_texts(terms, corpus, examples)
    seeds, has_vectors = _seeds(terms, corpus, subject, in_examples, len(examples), use_vectors)
    n_posts = len(terms.last)
    notes = []
    if use_vectors and not has_vectors:
        notes.append(note("first_no_vectors", language=language))
    silent = not terms.posts[:, [0]].nnz
    if silent:
        notes.append(note("first_silent", subject=whole.texts[0]))
    if not len(seeds):
        return FirstList(subject, n_posts, (), (*notes, note("first_nothing")))
    listed, order = _with_list(terms, seeds)
    features, chance = judged(listed, language, subject, use_vectors=use_vectors)
    own = (order == 0) & (not silent)  # what somebody asks for is on the subject
    chance = np.where(own, 1.0, chance)
    value = np.where(own, np.inf, worth(chance, features.posts, np.zeros(len(chance))))
    value[(chance < LEAST_KEPT) | (features.posts == 0)] = -np.inf
    chosen = _best(listed, value, most)
    if len(chosen) < most:
        notes.append(note("first_few", n=len(chosen)) if len(chosen) else note("first_nothing"))
    shown = _examples(recent, listed, chosen)
    counts = np.asarray(listed.posts.sum(axis=0)).ravel()
    words = tuple(
        FirstWord(
            keyword=listed.keywords[column],
            posts=int(counts[column]),
            relevance=float(chance[column]),
            text=_why(listed, features, column, bool(own[column]), int(in_examples[order[column]]), len(examples)),
            examples=shown[column],
        )
        for column in chosen.tolist()
    )
    return FirstList(subject, n_posts, words, tuple(notes))


def _recent(corpus: Corpus) -> Corpus:
    """The last windows of a corpus; more of them where they hold few posts."""
    every = np.bincount(np.concatenate([corpus.documents.window, corpus.apart.window]), minlength=corpus.n_windows)
    start = max(0, corpus.n_windows - RECENT_WINDOWS)
    while start and every[start:].sum() < THIN_POSTS:
        start -= 1
    return corpus.span(start) if start else corpus


def _in_texts(terms: Terms, corpus: Corpus, texts: Sequence[str]) -> Ints:
    """How many of these texts have all words of each term. # (T,)"""
    if not texts:
        return np.zeros(len(terms), dtype=np.int64)
    tokens = segmented(tokens_of(cut(texts)), corpus.vocabulary.language)
    word = np.array([corpus.vocabulary.index(stem) for stem in corpus.settings.stems(tokens.distinct.to_list())])
    ids, rows = word[tokens.texts.values], tokens.texts.rows
    entries = np.unique(rows[ids > 0].astype(np.int64) * len(corpus.vocabulary) + ids[ids > 0])
    at = (entries % len(corpus.vocabulary), entries // len(corpus.vocabulary))
    has = csr_array((np.ones(len(entries)), at), shape=(len(corpus.vocabulary), len(texts)))
    size = np.asarray(terms.own.sum(axis=1))[:, None]
    return np.asarray((((terms.own @ has).toarray() >= size) & (size > 0)).sum(axis=1))


def _seeds(
    terms: Terms,
    corpus: Corpus,
    subject: str,
    in_examples: Ints,
    n_examples: int,
    use_vectors: bool,
) -> tuple[Ints, bool]:
    """The terms that take the place of a list, and whether vectors are known. # (n,)

    The subject itself comes first, then words that tell the examples from other posts, then the nearest ones. A word
    that never stands beside a subject that many posts have is not near, whatever vectors say. Without vectors, the
    words of the subject are taken.
    """
    counts = np.asarray(terms.posts.sum(axis=0)).ravel().astype(np.float64)
    often = counts >= max(FEWEST_POSTS, RARE_FIRST * len(terms.last))
    itself = [0] if counts[0] else []
    rare = np.log((in_examples + 0.5) / (n_examples + 1)) - np.log((counts + 0.5) / (len(terms.last) + 1))
    tells = np.where(often & (in_examples > max(1, n_examples // 5)), in_examples * rare, -np.inf)
    telling = _best(terms, np.where(tells > 0, tells, -np.inf), FIRST_WORDS).tolist()
    asked = _content_words(subject, corpus.settings)
    named = word_vectors([subject], corpus.vocabulary.language) if use_vectors else None
    if named is None or not (itself or _is_usual(asked, corpus.vocabulary.language)):
        stems = {corpus.vocabulary.index(stem) for stem in corpus.settings.stems(asked)} - {0}
        own = np.isin(terms.own.indices, list(stems))
        hits = np.bincount(np.repeat(np.arange(len(terms)), np.diff(terms.own.indptr))[own], minlength=len(terms))
        near = np.flatnonzero((hits > 0) & (hits == np.diff(terms.own.indptr)) & (counts > 0)).tolist()
        return np.array(list(dict.fromkeys([*itself, *telling, *near])), dtype=np.int64), named is not None
    vectors = word_vectors([keyword.in_words for keyword in terms.keywords], corpus.vocabulary.language)
    assert vectors is not None
    likeness = np.asarray(vectors @ named[0], dtype=np.float64)
    may = often & (likeness >= LEAST_FIRST) & _beside(terms, counts)
    near = _best(terms, np.where(may, likeness * counts**VOLUME_FIRST, -np.inf), FIRST_WORDS).tolist()
    return np.array(list(dict.fromkeys([*itself, *telling, *near])), dtype=np.int64), True


def _is_usual(words: Sequence[str], language: str) -> bool:
    """Whether one of these words is usual enough for its vector to mean something: others are cut into letters."""
    frequency = general_frequencies([Keyword(word) for word in words], language)
    return frequency is None or bool((frequency > RAREST).any())


def _beside(terms: Terms, counts: Floats) -> Bools:
    """Whether a term stands beside the subject itself more than by chance. # (T,)

    All do where too few posts have the subject to tell.
    """
    having = terms.posts[:, [0]].toarray().ravel()
    n, n_posts = float(having.sum()), len(having)
    if n < 2 * SURE_POSTS:
        return np.ones(len(terms), dtype=np.bool_)
    beside = np.asarray(terms.posts.T @ having).ravel()
    return np.asarray((beside >= FEWEST_POSTS) & (beside / counts.clip(1) > 2 * n / n_posts))


def _with_list(terms: Terms, listed: Ints) -> tuple[Terms, Ints]:
    """The terms as they are seen from a list of some of them, which come first; and where each was before. # (T,)"""
    order = np.concatenate([listed, np.setdiff1d(np.arange(len(terms)), listed)])
    posts = terms.posts[:, order].tocsr()
    return replace(
        terms,
        keywords=tuple(terms.keywords[column] for column in order.tolist()),
        n_current=len(listed),
        posts=posts,
        own=terms.own[order],
        collected=np.asarray(posts[:, : len(listed)].sum(axis=1)).ravel() > 0,
        earlier=terms.earlier[order],
        founding=np.arange(len(order)) < len(listed),
    ), order


def _best(terms: Terms, value: Floats, most: int) -> Ints:
    """The terms that are worth most, without those whose posts a better one has. # (n,)"""
    top = np.argsort(-value, kind="stable")[: SHORTLIST + most]
    top = top[value[top] > -np.inf]
    covers = covered_by([terms.keywords[column] for column in top.tolist()])
    taken: list[int] = []
    for place in range(len(top)):
        if len(taken) < most and not any(place in covers[other] for other in taken):
            taken.append(place)
    return top[taken]


def _examples(corpus: Corpus, terms: Terms, chosen: Ints) -> dict[int, tuple[Example, ...]]:
    """Posts with each chosen term: first those with most of the chosen ones, then the latest; no text twice."""
    row_of = np.concatenate([corpus.documents.post, corpus.apart.post])
    time = np.concatenate([corpus.documents.time, corpus.apart.time])
    listed = terms.posts[:, chosen]
    carried = np.asarray(listed.sum(axis=1)).ravel()
    columns = listed.tocsc()
    found: dict[int, tuple[Example, ...]] = {}
    for place, column in enumerate(chosen.tolist()):
        rows = columns.indices[columns.indptr[place] : columns.indptr[place + 1]]
        texts: dict[str, Example] = {}
        for row in rows[np.lexsort((-time[rows], -carried[rows]))].tolist():
            post = corpus.posts[int(row_of[row])]
            texts.setdefault(post.text, Example(post.id, post.text))
            if len(texts) == EXAMPLES:
                break
        found[column] = tuple(texts.values())
    return found


def _why(terms: Terms, features: Features, column: int, own: bool, in_examples: int, n_examples: int) -> str:
    """Why a term is on a first list."""
    if own:
        return in_words("first_subject", {})
    if in_examples > max(1, n_examples // 5):
        return in_words("first_examples", {"n": in_examples, "of": n_examples})
    if features.beside[column] >= CLOSE_COMPANY:
        return in_words("first_beside", {"beside": float(features.beside[column])})
    if features.values[column, NAMES.index("meaning_subject")] >= CLOSE_MEANING:
        return in_words("first_meaning", {})
    nearest = int(features.nearest[column])
    return in_words("extends", {"nearest": terms.keywords[nearest].text if nearest != column else "the subject"})
