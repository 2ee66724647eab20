"""From posts to a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa

from klda.errors import DataError, SettingError
from klda.posts.schema import HasBatches, PostSink, PostTable, as_batches, microseconds, unread
from klda.text.corpus import Corpus
from klda.text.documents import Ragged, concatenated, merged, time_order
from klda.text.encoding import Numbers, documents_of, encode_all
from klda.text.matching import Matcher
from klda.text.text_settings import TextSettings
from klda.text.tokens import normalise
from klda.text.vocabulary import Vocabulary
from klda.text.windows import Windowing
from klda.types import Keyword, KeywordSet, Post, Progress, as_keywords, silent

Forms = dict[str, dict[str, int]]  # how often each form of each stem occurs

CHUNK_ROWS = 65_536
"""Posts encoded at a time: enough that most words repeat, few enough to stay small in memory."""


def build(
    posts: HasBatches | Iterable[Post],
    keywords: KeywordSet | Iterable[str],
    *,
    candidates: KeywordSet | Iterable[str] | None = None,
    window: str | Windowing = "7d",
    settings: TextSettings | None = None,
    vocabulary: Vocabulary | None = None,
    extend_vocabulary: bool = False,
    adjacent: bool = False,
    stem_keywords: bool = False,
    history: Sequence[KeywordSet] | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Corpus:
    """The corpus of these posts; see `Corpus.from_posts`."""
    settings = settings or TextSettings()
    keywords = as_keywords(keywords)
    if candidates is None:
        candidates = keywords
    else:
        candidates = as_keywords(candidates)
        keywords = candidates.spell(keywords)
        candidates |= keywords
    if not len(candidates):
        raise SettingError("a corpus needs at least one keyword; give keywords or candidates")
    windowing = window if isinstance(window, Windowing) else Windowing(window)

    number, sink = Numbers(), PostSink()
    encoded: list[Ragged] = []
    observed: list[Ragged] = []
    for part in encode_all(_texts(posts, sink), Matcher(candidates, adjacent=adjacent), settings, workers):
        encoded.append(Ragged(part.texts.indptr, number.of(part.forms)[part.texts.values]))
        observed.append(part.observed)
        progress("prepare", sum(map(len, encoded)))
    if not sink.rows:
        why = "".join(f" ({note})" for note in unread(posts))
        raise DataError(f"there are no posts to prepare{why}; check the files and the filters")

    table = sink.finish()
    stems, found_forms = _stems(list(number), encoded, settings)
    words = _vocabulary(found_forms, settings, vocabulary, extend_vocabulary)
    word_of_form = np.fromiter(map(words.index, stems), dtype=np.int32, count=len(stems))
    time = table.column("time").cast(pa.int64()).to_numpy()
    windows, index = windowing.assign(time)
    sets = tuple(history) if history is not None else (keywords,) * len(windows)
    if len(sets) != len(windows):
        raise SettingError(f"{len(sets)} keyword sets for {len(windows)} windows; give one for each")

    numbered = (Ragged(chunk.indptr, word_of_form[chunk.values]) for chunk in encoded)
    documents = documents_of(numbered, len(words), time, index)
    found = Ragged.joined(observed)
    order = np.argsort(time, kind="stable")
    carries = found.lengths[order] > 0
    inside = order[carries]
    corpus = Corpus(
        documents=documents.take(inside),
        observed=found.take(inside),
        apart=documents.take(order[~carries]),
        vocabulary=words,
        candidates=candidates,
        windows=windows,
        history=sets,
        posts=table,
        adjacent=adjacent,
        settings=settings,
        windowing=windowing,
        n_distinct=len(found_forms),
    )
    return with_stems(corpus) if stem_keywords else corpus


def _texts(posts: HasBatches | Iterable[Post], sink: PostSink) -> Iterator[pa.Array]:
    """The texts of the posts, a chunk at a time, on the way into the table."""
    waiting: list[pa.Array] = []
    for batch in as_batches(posts):
        sink.add(batch)
        waiting.append(batch.column("text"))
        if sum(map(len, waiting)) >= CHUNK_ROWS:
            yield pa.concat_arrays(waiting)
            waiting = []
    if waiting:
        yield pa.concat_arrays(waiting)


def _stems(forms: list[str], encoded: list[Ragged], settings: TextSettings) -> tuple[list[str], Forms]:
    """The stem of each form, and how often each form of each stem occurs."""
    counts = np.zeros(len(forms), dtype=np.int64)
    for chunk in encoded:
        counts += np.bincount(chunk.values, minlength=len(forms))
    stems = settings.stems(forms)
    found: Forms = {}
    for stem, form, count in zip(stems, forms, counts.tolist(), strict=True):
        found.setdefault(stem, {})[form] = count
    return stems, found


def _vocabulary(found: Forms, settings: TextSettings, known: Vocabulary | None, extend: bool) -> Vocabulary:
    """The frequent words, the most frequent first; behind those that were known before, if any."""
    if known is not None and not extend:
        return known
    totals = {stem: sum(forms.values()) for stem, forms in found.items()}
    frequent = [stem for stem, total in totals.items() if total >= settings.min_count or (known and stem in known)]
    frequent.sort(key=lambda stem: (-totals[stem], stem))
    forms = {stem: found[stem] for stem in frequent}
    return Vocabulary.of(forms, settings.language) if known is None else known.extend(forms)


def with_stems(corpus: Corpus) -> Corpus:
    """The corpus with keywords that match every frequent form of their stem."""
    widened = {keyword.text: _widened(keyword, corpus) for keyword in corpus.candidates}

    def widen(keywords: KeywordSet) -> KeywordSet:
        return KeywordSet(tuple(widened.get(keyword.text) or _widened(keyword, corpus) for keyword in keywords))

    history = tuple(widen(keywords) for keywords in corpus.history)
    return corpus.with_candidates(widen(corpus.candidates)).with_history(history)


def _widened(keyword: Keyword, corpus: Corpus) -> Keyword:
    """A keyword with the forms of its stems; as it is when it was not typed but found with forms of its own."""
    if keyword.forms != (keyword.text,):
        return keyword
    choices = []
    for word in normalise(keyword.text).split():
        stem = corpus.settings.stems([word])[0]
        known = corpus.vocabulary.keyword(stem).forms if stem in corpus.vocabulary else ()
        choices.append(dict.fromkeys((word, *known)))
    return Keyword(keyword.text, tuple(dict.fromkeys(" ".join(words) for words in product(*choices))))


def extended(
    corpus: Corpus,
    posts: HasBatches | Iterable[Post],
    keywords: KeywordSet | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Corpus:
    """The corpus with further posts, usually those of a new window.

    Old words keep their numbers, new frequent ones stand behind them. `keywords` were active in the new windows
    (default: those of the last window); they become candidates if they were not.
    """
    active = corpus.history[-1] if keywords is None else keywords
    if active - corpus.candidates:
        corpus = corpus.with_candidates(corpus.candidates | active)
    later = build(
        posts,
        active,
        candidates=corpus.candidates,
        window=corpus.windowing,
        settings=corpus.settings,
        vocabulary=corpus.vocabulary,
        extend_vocabulary=True,
        adjacent=corpus.adjacent,
        workers=workers,
        progress=progress,
    )
    sets = dict(zip(later.windows, later.history, strict=True)) | dict(zip(corpus.windows, corpus.history, strict=True))
    starts = np.array([microseconds(window.start) for window in sets])
    windows, _ = corpus.windowing.assign(starts)
    first, second = (windows.index(part.windows[0]) for part in (corpus, later))
    n_posts = len(corpus.posts)
    documents = concatenated(corpus.documents.shifted(-first), later.documents.shifted(-second).moved(n_posts))
    order = time_order(documents)
    return replace(
        corpus,
        documents=documents.take(order),
        observed=Ragged.joined([corpus.observed, later.observed]).take(order),
        apart=merged(corpus.apart.shifted(-first), later.apart.shifted(-second).moved(n_posts)),
        vocabulary=later.vocabulary,
        windows=windows,
        history=tuple(sets.get(window, active) for window in windows),
        posts=PostTable(pa.concat_tables([corpus.posts.table, later.posts.table])),
        n_distinct=max(corpus.n_distinct, later.n_distinct),
    )
