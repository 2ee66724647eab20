"""Candidates: every word, hashtag and short phrase of recent posts, and which posts have it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csc_array, csr_array, hstack, vstack

from klda.advice.constants import FEW_POSTS, FEWEST_POSTS, PHRASE_SHARE
from klda.advice.volume import collected, recent_spans
from klda.arrays import Bools, Floats, Ints
from klda.text.corpus import Corpus
from klda.text.documents import Documents
from klda.text.languages import stem_words
from klda.text.matching import Matcher
from klda.text.tokens import Pieces, Tokens, cut, tokens_of
from klda.types import Keyword, KeywordSet

FORMS_COVER = 0.99
"""Share of a word's occurrences that the forms of a candidate cover: *worker* beside *workers* too."""
NO_TERM = re.compile(r"@|[^\w#$]|[#$]?((\d+x)?\d+(st|nd|rd|th|am|pm)?)?$")
"""Mentions, emoji, numbers, dates and times are no candidates."""
MOST_FORMS = 4
"""Forms of a phrase that are matched: *ballot box*, *ballot boxes*."""
PHRASE_WORD = r"^[\p{L}\p{N}][\p{L}\p{N}'-]*$"
"""What a word of a phrase looks like: hashtags, mentions and emoji take no part."""


@dataclass(frozen=True)
class Terms:
    """Words that may become keywords, and the posts that have them; the current keywords come first."""

    keywords: tuple[Keyword, ...]
    n_current: int
    posts: csr_array  # (D, T)  1 where a recent post has a term
    words: csr_array  # (D, V)  1 where a recent post has a word
    own: csr_array  # (T, V)  the words that a term consists of
    last: Bools  # (D,)  whether a post is of the last window, or of those that were pooled with it
    collected: Bools  # (D,)  whether a keyword of the list brought a post, or one that was active in its window
    earlier: Floats  # (T,)  posts with the term before these; NaN where that is not counted
    n_earlier: int
    n_windows: int
    """Recent windows."""
    founding: Bools  # (T,)
    """Whether the subject was first asked for with a term."""
    displays: tuple[str, ...]  # V of them
    """The words as people write them."""

    def __len__(self) -> int:
        return len(self.keywords)


def terms_of(
    corpus: Corpus, current: KeywordSet, named: KeywordSet = KeywordSet(), founding: KeywordSet | None = None
) -> Terms:
    """The terms of the last windows of a corpus, with at least a few posts each.

    Forms of one stem are one term. A phrase is two or three words side by side. Forms that a current keyword matches
    already are left out. Words that are `named` come after the current ones, however rare.
    """
    wanted = current | named
    first = current if founding is None else founding
    matched = corpus if corpus.candidates == wanted else corpus.with_candidates(wanted)
    start, edge = recent_spans(matched, current)
    recent = matched.span(start)
    inside, apart = recent.documents, recent.apart
    texts = corpus.posts.texts(np.concatenate([inside.post, apart.post]))
    n_words = len(corpus.vocabulary)
    pieces = cut(texts)
    text_of = pl.Series(texts).rank("dense").to_numpy().astype(np.int64)  # copies have one number
    fewest = FEWEST_POSTS if len(inside) + len(apart) >= FEW_POSTS else FEWEST_POSTS - 1
    words = vstack([_present(inside, n_words), _present(apart, n_words)], format="csr")
    carried = vstack([_carried(recent), csr_array((len(apart), len(wanted)), dtype=np.float32)], format="csr")
    count = np.asarray(words.sum(axis=0)).ravel()
    stems = corpus.vocabulary.words
    usual = [w for w in np.flatnonzero(count >= fewest).tolist() if w and NO_TERM.match(stems[w]) is None]
    singles = [corpus.vocabulary.keyword(int(w), FORMS_COVER) for w in usual]
    phrases, phrase_posts, parts = _phrases(tokens_of(pieces), text_of, corpus, fewest)
    candidates = [*singles, *phrases]
    found, keep = _uncovered(candidates, Matcher(current, adjacent=corpus.adjacent))
    has_word = _rematched(hstack([words[:, usual], phrase_posts], format="csc"), candidates, found, keep, pieces)
    taken = {keyword.text.casefold() for keyword in wanted}
    keep &= np.array([keyword.text.casefold() not in taken for keyword in found], dtype=np.bool_)
    keywords = [*wanted, *found]
    keep = np.concatenate([np.ones(len(wanted), dtype=np.bool_), keep])
    kept = np.flatnonzero(keep)
    earlier = np.full(len(keywords), np.nan)
    n_earlier = 0
    if edge:
        before = matched.span(0, edge)
        n_earlier = len(before) + len(before.apart)
        earlier[: len(wanted)] = np.bincount(before.observed.values, minlength=len(wanted))
        said = sum(np.bincount(part.words, minlength=n_words) for part in (before.documents, before.apart))
        earlier[len(wanted) : len(wanted) + len(usual)] = np.asarray(said)[usual]
        changed = [before != after for before, after in zip(candidates, found, strict=True)]
        earlier[len(wanted) :][changed] = np.nan  # counts are of all forms
    return Terms(
        keywords=tuple(keywords[column] for column in kept.tolist()),
        n_current=len(current),
        posts=hstack([carried, has_word], format="csr")[:, kept],
        words=words,
        own=_own_words(wanted, usual, parts, corpus)[kept],
        last=np.concatenate([inside.window, apart.window]) >= edge - start,
        collected=np.concatenate([collected(recent, np.arange(len(current))), np.zeros(len(apart), dtype=np.bool_)]),
        earlier=earlier[kept],
        n_earlier=n_earlier,
        n_windows=recent.n_windows,
        founding=np.array([keywords[column] in first for column in kept.tolist()], dtype=np.bool_),
        displays=tuple(corpus.vocabulary.display(word) for word in range(n_words)),
    )


def _carried(corpus: Corpus) -> csr_array:
    """1 where a document carries a candidate. # (D, Q)"""
    observed = corpus.observed
    ones = np.ones(len(observed.values), dtype=np.float32)
    return csr_array((ones, observed.values, observed.indptr), shape=(len(corpus), len(corpus.candidates)))


def _present(documents: Documents, n_words: int) -> csr_array:
    """1 where a document has a word, the placeholder aside. # (D, V)"""
    found = csr_array(
        ((documents.words > 0).astype(np.float32), documents.words, documents.indptr),
        shape=(len(documents), n_words),
        copy=True,
    )
    found.eliminate_zeros()
    return found


def _phrases(
    tokens: Tokens, text_of: Ints, corpus: Corpus, fewest: int
) -> tuple[list[Keyword], csr_array, list[list[int]]]:
    """Phrases of two and three words, the posts that have them side by side, and the words that they consist of.

    Copies of one text count once: what one person wrote and many repeat is no phrase. `text_of` numbers the texts (D,).
    The first and the last word are no stop words; between them anything may stand: *game of thrones*.
    """
    distinct, values, rows = tokens.distinct, tokens.texts.values.astype(np.int64), tokens.texts.rows
    n_texts = len(tokens.texts)
    plain = distinct.str.contains(PHRASE_WORD).to_numpy()
    full = corpus.settings.keeps(distinct).to_numpy() & plain
    least = max(fewest, int(PHRASE_SHARE * n_texts))
    at = np.flatnonzero((rows[1:] == rows[:-1]) & plain[values[:-1]] & plain[values[1:]])
    pairs = _frequent(least, at, rows, text_of, values[at], values[at + 1], np.full(len(at), -1))
    begins = np.zeros(len(values), dtype=np.bool_)
    begins[pairs["at"].to_numpy()] = True
    at = np.flatnonzero(begins[:-1] & begins[1:])  # a frequent phrase of three words holds two frequent pairs
    threes = _frequent(least, at, rows, text_of, values[at], values[at + 1], values[at + 2])
    table = pl.concat([pairs, threes])
    ends = np.where(table["c"] < 0, table["b"], table["c"])
    table = table.filter(full[table["a"]] & full[ends] & (table["a"].to_numpy() != ends))
    if not len(table):
        return [], csr_array((n_texts, 0), dtype=np.float32), []
    table = table.select("row", "a", "b", "c").unique(maintain_order=True)
    counted = table.group_by("a", "b", "c", maintain_order=True).len()
    # forms of one phrase together: "ballot box", "ballot boxes"
    names = distinct.to_list()
    phrases = [tuple(names[i] for i in ids if i >= 0) for ids in counted.select("a", "b", "c").iter_rows()]
    flat = [word for phrase in phrases for word in phrase]
    stems = iter(stem_words(flat, corpus.vocabulary.language) if corpus.settings.stem else flat)
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, phrase in enumerate(phrases):
        groups.setdefault(tuple(next(stems) for _ in phrase), []).append(i)
    size = counted["len"].to_list()
    group_of = np.empty(len(phrases), dtype=np.int64)
    keywords: list[Keyword] = []
    for g, members in enumerate(groups.values()):
        group_of[members] = g
        forms = tuple(" ".join(phrases[i]) for i in sorted(members, key=lambda i: (-size[i], i)))
        keywords.append(Keyword(forms[0], forms[:MOST_FORMS]))
    where = table.join(counted.with_columns(group=group_of), on=["a", "b", "c"], maintain_order="left")
    entries = np.unique(where["row"].to_numpy().astype(np.int64) * len(groups) + where["group"].to_numpy())
    posts = csr_array(
        (np.ones(len(entries), dtype=np.float32), (entries // len(groups), entries % len(groups))),
        shape=(n_texts, len(groups)),
    )
    parts = [sorted({corpus.vocabulary.index(stem) for stem in group} - {0}) for group in groups]
    return keywords, posts, parts


def _frequent(least: int, at: Ints, rows: Ints, text_of: Ints, a: Ints, b: Ints, c: Ints) -> pl.DataFrame:
    """The places of phrases (a, b, c) that occur in enough texts."""
    table = pl.DataFrame({"at": at, "row": rows[at], "text": text_of[rows[at]], "a": a, "b": b, "c": c})
    often = table.group_by("a", "b", "c").agg(pl.col("text").n_unique()).filter(pl.col("text") >= least)
    return table.join(often.select("a", "b", "c"), on=["a", "b", "c"], how="semi", maintain_order="left")


def _uncovered(found: list[Keyword], listed: Matcher) -> tuple[list[Keyword], Bools]:
    """The terms with those of their forms alone that no current keyword matches, and which have any. # (T,)"""
    forms = [form for keyword in found for form in keyword.forms]
    hit = iter((listed.match_many(forms).lengths > 0).tolist())
    left = [tuple(form for form in keyword.forms if not next(hit)) for keyword in found]
    kept = [k if f == k.forms else Keyword(f[0], f) if f else k for k, f in zip(found, left, strict=True)]
    return kept, np.array([bool(f) for f in left], dtype=np.bool_)


def _rematched(posts: csc_array, before: list[Keyword], after: list[Keyword], keep: Bools, pieces: Pieces) -> csc_array:
    """Which posts have each term (D, T), where some lost forms: *reds* alone, beside the keyword *red*. # (D, T)"""
    changed = [column for column, kept in enumerate(keep.tolist()) if kept and before[column] != after[column]]
    if not changed:
        return posts
    terms = KeywordSet(tuple(Keyword(str(column), after[column].forms) for column in changed))
    found = Matcher(terms).match_pieces(pieces)
    ones = np.ones(len(found.values), dtype=np.float32)
    exact = csr_array((ones, found.values, found.indptr), shape=(len(pieces.texts), len(changed))).tocsc()
    place = np.arange(posts.shape[1])
    place[changed] = posts.shape[1] + np.arange(len(changed))
    return hstack([posts, exact], format="csc")[:, place]


def _own_words(named: KeywordSet, usual: list[int], parts: list[list[int]], corpus: Corpus) -> csr_array:
    """The words of the vocabulary that each term consists of. # (T, V)"""
    of_list = Matcher(named).words_of(corpus.vocabulary).lists()
    lists = [*of_list, *([w] for w in usual), *parts]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    values = np.array([w for row in lists for w in row], dtype=np.int64)
    shape = (len(lists), len(corpus.vocabulary))
    return csr_array((np.ones(len(values), dtype=np.float32), values, indptr), shape=shape)
