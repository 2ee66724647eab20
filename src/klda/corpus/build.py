"""From posts to a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from klda.corpus.corpus import Corpus
from klda.corpus.documents import Ragged
from klda.corpus.encoding import documents_of, encode_all
from klda.corpus.matching import Matcher
from klda.corpus.posts import HasBatches, PostSink, as_batches
from klda.corpus.text import TextSettings
from klda.corpus.tokens import normalise
from klda.corpus.vocabulary import Vocabulary
from klda.corpus.windows import Windowing
from klda.errors import DataError, SettingError
from klda.types import Keyword, KeywordSet, Post, Progress, silent

Forms = dict[str, dict[str, int]]  # how often each form of each stem occurs

CHUNK_ROWS = 32_768
"""Posts encoded at a time: enough that most words repeat, few enough to stay small in memory."""


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def build(
    posts: HasBatches | Iterable[Post],
    keywords: KeywordSet | Iterable[str],
    *,
    candidates: KeywordSet | None = None,
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
    keywords = keywords if isinstance(keywords, KeywordSet) else KeywordSet.of(*keywords)
    candidates = keywords if candidates is None else candidates | keywords
    if not len(candidates):
        raise SettingError("a corpus needs at least one keyword; give keywords or candidates")
    windowing = window if isinstance(window, Windowing) else Windowing(window)

    number, sink = _Numbers(), PostSink()
    encoded: list[Ragged] = []
    observed: list[Ragged] = []
    for part in encode_all(_texts(posts, sink), Matcher(candidates, adjacent=adjacent), settings, workers):
        forms = np.fromiter(map(number.__getitem__, part.forms), dtype=np.int32, count=len(part.forms))
        encoded.append(Ragged(part.texts.indptr, forms[part.texts.values]))
        observed.append(part.observed)
        progress("prepare", sum(map(len, encoded)))
    if not sink.rows:
        raise DataError("there are no posts to prepare; check the files and the filters")

    table = sink.finish()
    stems, found_forms = _stems(list(number), encoded, settings)
    words = _vocabulary(found_forms, settings, vocabulary, extend_vocabulary)
    word_of_form = np.fromiter(map(words.index, stems), dtype=np.int32, count=len(stems))
    time = table.column("time").cast(pa.int64()).to_numpy()
    windows, index = windowing.assign(time)
    sets = tuple(history) if history is not None else (keywords,) * len(windows)
    if len(sets) != len(windows):
        raise SettingError(f"{len(sets)} keyword sets for {len(windows)} windows; give one for each")

    for i, chunk in enumerate(encoded):
        encoded[i] = Ragged(chunk.indptr, word_of_form[chunk.values])
    documents = documents_of(encoded, len(words), time, index)
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
    return _with_stems(corpus) if stem_keywords else corpus


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


def _with_stems(corpus: Corpus) -> Corpus:
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
