"""A corpus in shards: a folder of corpora that share a vocabulary, for archives that exceed memory.

shards.json          format version, settings, windows, keywords, and for each shard its counts and digest
vocabulary.parquet   the words of all shards
shards/00000, …      corpora as `storage` writes them, without a vocabulary, in the order in which posts were read

Shards are made independently, in any process, as corpora with all their words (`local_shard`). `assemble` merges their
vocabularies and renumbers their words. The corpus is the same wherever posts are cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from klda.errors import DataError, FormatError
from klda.posts.schema import HasBatches, microseconds
from klda.text import storage
from klda.text.corpus import Corpus, Rows
from klda.text.joining import in_time, joined, merged_vocabulary
from klda.text.recipe import Recipe
from klda.text.recode import recoded
from klda.text.vocabulary import Vocabulary
from klda.text.windows import Windowing
from klda.types import KeywordSet, Post, Progress, Window, silent

VERSION = 1
VOCABULARY = "vocabulary.parquet"

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""`map`, or a function that does the same in other processes. Results keep their order; tasks must be picklable."""


@dataclass(frozen=True)
class Shard:
    """Facts about one shard, as the manifest has them."""

    folder: str
    posts: int
    documents: int
    apart: int
    tokens: int
    pairs: int
    """Pairs of a document and a candidate that it carries."""
    digest: str
    """SHA-256 of the arrays."""


@dataclass(frozen=True)
class ShardedCorpus:
    """A folder of shards, opened: each shard is a memory-mapped corpus with the words and windows of all."""

    folder: Path
    shards: tuple[Shard, ...]
    digest: str
    """SHA-256 of the vocabulary and of all arrays: folders with the same digest hold the same corpus."""

    @classmethod
    def open(cls, folder: Path | str) -> ShardedCorpus:
        """The shards in a folder, by its manifest. No shard is read yet."""
        path = Path(folder)
        try:
            manifest = json.loads((path / storage.SHARDS).read_text(encoding="utf-8"))
            if manifest["format"] != "klda shards" or manifest["version"] != VERSION:
                raise FormatError(
                    f"{path / storage.SHARDS}: format {manifest['format']!r}, version {manifest['version']!r}; this "
                    f"program reads version {VERSION} of 'klda shards': update it or prepare again"
                )
            shards = tuple(Shard(**entry) for entry in manifest["shards"])
            vocabulary, digest = str(manifest["vocabulary"]["digest"]), str(manifest["digest"])
        except FileNotFoundError as error:
            raise FormatError(f"{path}: not a folder of shards; make one with `klda prepare --memory`") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _damaged(path / storage.SHARDS, error) from error
        if not shards or digest != _digest_of_all(vocabulary, shards):
            raise _damaged(path / storage.SHARDS, "its digest is not that of its shards")
        if not (path / VOCABULARY).is_file() or _digest(path / VOCABULARY) != vocabulary:
            raise _damaged(path / VOCABULARY, "it is not the vocabulary that the shards were made with")
        return cls(path, shards, digest)

    def __len__(self) -> int:
        return len(self.shards)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of all shards."""
        return Vocabulary.load(self.folder / VOCABULARY)

    def shard(self, number: int) -> Corpus:
        """One shard, memory-mapped; `post` counts within the shard. A shard that has changed is refused."""
        corpus = self._mapped(number)
        self._check(number)
        return corpus

    def __iter__(self) -> Iterator[Corpus]:
        return map(self.shard, range(len(self)))

    def joined(self, rows: Rows | None = None) -> Corpus:
        """All shards as one corpus in the order of time, mapped from a file that is deleted with the corpus.

        With `rows`, only the documents that it chooses. Shards without such documents are not read.
        """
        parts = [self._mapped(number) for number in range(len(self))]
        order, touched = None, list(range(len(self)))
        if rows is not None:
            documents = [part.documents for part in parts]
            order = in_time(documents)
            order = order[rows(np.concatenate([part.window for part in documents])[order])]
            ends = np.cumsum([len(part) for part in documents])
            touched = np.flatnonzero(np.bincount(np.searchsorted(ends, order, side="right"))).tolist()
        for number in touched:
            self._check(number)
        return parts[0] if len(parts) == 1 and order is None else joined(parts, self.folder, order)

    def _mapped(self, number: int) -> Corpus:
        return storage.load(self.folder / self.shards[number].folder, self.vocabulary)

    def _check(self, number: int) -> None:
        folder = self.folder / self.shards[number].folder
        if _digest(folder / "arrays.arrow") != self.shards[number].digest:
            raise _damaged(folder, "its arrays are not those that the manifest names")


def is_sharded(folder: Path | str) -> bool:
    """Whether a folder holds shards rather than one corpus."""
    return (Path(folder) / storage.SHARDS).is_file()


def n_documents(folder: Path | str) -> int:
    """How many documents the corpus in a folder has, whole or in shards, from the manifest alone."""
    if is_sharded(folder):
        return sum(shard.documents for shard in ShardedCorpus.open(folder).shards)
    return len(storage.load(Path(folder)))


def load_corpus(folder: Path | str, rows: Rows | None = None) -> Corpus:
    """The corpus in a folder, memory-mapped; the shards of a folder of shards are joined on disk.

    With `rows`, only the documents that it chooses, given the windows of all in the order of time; `apart` is left
    behind.
    """
    path = Path(folder)
    if is_sharded(path):
        return ShardedCorpus.open(path).joined(rows)
    corpus = storage.load(path)
    return corpus if rows is None else corpus.take(rows(corpus.documents.window))


def local_shard(posts: HasBatches | Iterable[Post], recipe: Recipe, *, workers: int | None = 1) -> Corpus:
    """The corpus of some of the posts, with every word that occurs in them: save it, and give it to `assemble`."""
    every_word = replace(recipe.settings, min_count=1)
    local = replace(recipe, settings=every_word, stem_keywords=False, history=None)
    return Corpus.made(posts, local, workers=workers)


def assemble(
    parts: Sequence[Path],
    folder: Path,
    recipe: Recipe,
    *,
    vocabulary: tuple[Vocabulary, int] | None = None,
    memory: int = 1 << 30,
    map_tasks: Map = map,
    progress: Progress = silent,
) -> ShardedCorpus:
    """Makes a folder of shards from saved local shards, in the order in which their posts were read.

    The result equals `Corpus.made` of all posts with the same recipe. `vocabulary` gives words that were merged
    elsewhere, with the number of distinct ones before rare ones became the placeholder; else they are merged here,
    within `memory` bytes. `map_tasks` may work on other machines that see the same files, and may do a task again.
    """
    if not parts:
        raise DataError("there are no posts to prepare; check the files and the filters")
    first = storage.load(parts[0])
    words, n_distinct = vocabulary or merged_vocabulary(
        [part / VOCABULARY for part in parts], recipe.settings, memory=memory
    )
    windows = _all_windows(first.windowing, map_tasks(_span, parts))
    whole = _Whole(recipe, windows, recipe.active_in(windows), n_distinct)
    with storage.replacing(folder) as fresh:
        words.save(fresh / VOCABULARY)
        shards = []
        for shard in map_tasks(partial(_finish, fresh, whole), enumerate(parts)):
            shards.append(shard)
            progress("recode", len(shards), len(parts))
        like = storage.load(fresh / shards[0].folder, words)
        _write_manifest(fresh, like, tuple(shards))
    return ShardedCorpus.open(folder)


@dataclass(frozen=True)
class _Whole:
    """Facts about the whole corpus that each shard needs."""

    recipe: Recipe
    windows: tuple[Window, ...]
    history: tuple[KeywordSet, ...]
    n_distinct: int

    def finished(self, part: Corpus, vocabulary: Vocabulary) -> Corpus:
        """A local shard with words and windows numbered as in the whole corpus."""
        first = self.windows.index(part.windows[0])
        corpus = replace(
            recoded(part, vocabulary),
            windows=self.windows,
            history=self.history,
            settings=self.recipe.settings,
            n_distinct=self.n_distinct,
        )
        corpus = replace(corpus, documents=corpus.documents.shifted(-first), apart=corpus.apart.shifted(-first))
        return corpus.with_stems() if self.recipe.stem_keywords else corpus


def _finish(folder: Path, whole: _Whole, task: tuple[int, Path]) -> Shard:
    """Writes one shard; writing it again replaces it, so a lost task can be repeated."""
    number, part = task
    corpus = whole.finished(storage.load(part), Vocabulary.load(folder / VOCABULARY))
    name = f"shards/{number:05d}"
    with storage.replacing(folder / name) as fresh:
        storage.write(corpus, fresh, vocabulary=False, posts=part / "posts.arrow")
    return Shard(
        folder=name,
        posts=len(corpus.posts),
        documents=len(corpus.documents),
        apart=len(corpus.apart),
        tokens=corpus.documents.n_tokens,
        pairs=len(corpus.observed.values),
        digest=_digest(folder / name / "arrays.arrow"),
    )


def _span(part: Path) -> tuple[Window, Window]:
    windows = storage.load(part).windows
    return windows[0], windows[-1]


def _all_windows(windowing: Windowing, spans: Iterable[tuple[Window, Window]]) -> tuple[Window, ...]:
    """The windows from the first to the last of any shard, empty ones included."""
    starts = [microseconds(window.start) for span in spans for window in span]
    return windowing.assign(np.array(starts, dtype=np.int64))[0]


def _write_manifest(folder: Path, corpus: Corpus, shards: tuple[Shard, ...]) -> None:
    vocabulary = _digest(folder / VOCABULARY)
    manifest = {
        "format": "klda shards",
        "version": VERSION,
        **storage.describe(corpus),
        "posts": sum(shard.posts for shard in shards),
        "documents": sum(shard.documents for shard in shards),
        "tokens": sum(shard.tokens for shard in shards),
        "vocabulary": {"words": len(corpus.vocabulary), "digest": vocabulary},
        "shards": [asdict(shard) for shard in shards],
        "digest": _digest_of_all(vocabulary, shards),
    }
    (folder / storage.SHARDS).write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of_all(vocabulary: str, shards: Iterable[Shard]) -> str:
    return hashlib.sha256("".join([vocabulary, *(shard.digest for shard in shards)]).encode()).hexdigest()


def _damaged(path: Path, reason: object) -> FormatError:
    return FormatError(f"{path}: damaged ({reason}); prepare the corpus again")


@dataclass(frozen=True)
class WindowSummary:
    """One window of a corpus."""

    window: Window
    documents: int
    without_keyword: int
    tokens: int


@dataclass(frozen=True)
class CorpusSummary:
    """A corpus as `klda prepare` reports it; tokens are those of the documents."""

    documents: int
    without_keyword: int
    tokens: int
    vocabulary_before: int
    """Distinct words before rare ones became the placeholder; 0 when that is not known."""
    vocabulary: int
    """Words that the model knows, the placeholder not counted."""
    windows: tuple[WindowSummary, ...]


NO_CORPUS = CorpusSummary(documents=0, without_keyword=0, tokens=0, vocabulary_before=0, vocabulary=0, windows=())
"""The summary of files without posts."""


def in_all(parts: Sequence[CorpusSummary]) -> CorpusSummary:
    """The size of the shards of a corpus together."""
    rows = zip(*(part.windows for part in parts), strict=True)
    return CorpusSummary(
        documents=sum(part.documents for part in parts),
        without_keyword=sum(part.without_keyword for part in parts),
        tokens=sum(part.tokens for part in parts),
        vocabulary_before=parts[0].vocabulary_before,
        vocabulary=parts[0].vocabulary,
        windows=tuple(
            WindowSummary(
                row[0].window,
                sum(part.documents for part in row),
                sum(part.without_keyword for part in row),
                sum(part.tokens for part in row),
            )
            for row in rows
        ),
    )


def summarise(corpus: Corpus) -> CorpusSummary:
    """The size of the corpus, in all and for each window."""
    n = corpus.n_windows
    documents = np.bincount(corpus.documents.window, minlength=n)
    apart = np.bincount(corpus.apart.window, minlength=n)
    tokens = np.bincount(corpus.documents.window, weights=corpus.documents.lengths, minlength=n)
    rows = zip(corpus.windows, documents.tolist(), apart.tolist(), tokens.tolist(), strict=True)
    return CorpusSummary(
        documents=len(corpus.documents),
        without_keyword=len(corpus.apart),
        tokens=corpus.documents.n_tokens,
        vocabulary_before=corpus.n_distinct,
        vocabulary=len(corpus.vocabulary) - 1,
        windows=tuple(WindowSummary(window, d, a, int(t)) for window, d, a, t in rows),
    )
