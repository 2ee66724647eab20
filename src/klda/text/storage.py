"""A corpus as a folder: Arrow files that are mapped on load, the vocabulary as Parquet, a manifest in JSON.

corpus.json        format version, settings, windows, keywords with their forms, history
posts.arrow        the table of posts
vocabulary.parquet
arrays.arrow       token counts, times, windows, rows of posts, observed keywords
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from klda.errors import FormatError, InputError, SettingError
from klda.posts.schema import PostTable
from klda.text.corpus import Corpus
from klda.text.documents import Documents, Ragged
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary
from klda.text.windows import Windowing
from klda.types import Keyword, KeywordSet, Window

VERSION = 1
MANIFEST = "corpus.json"
SHARDS = "shards.json"
"""The manifest of a folder of shards; see `klda.text.shards`."""

_PARTS = ("documents", "apart")


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a corpus, whole or in shards."""
    return (folder / MANIFEST).is_file() or (folder / SHARDS).is_file()


def save_corpus(corpus: Corpus, folder: Path | str) -> None:
    """Writes the corpus to a folder, which takes the place of a corpus that is already there.

    The corpus is first written to another folder. If that fails, the old content stays.
    """
    with replacing(Path(folder)) as fresh:
        write(corpus, fresh)


def check_free(folder: Path) -> None:
    """Refuses a folder that contains anything but a corpus."""
    if folder.exists() and not is_corpus(folder) and (folder.is_file() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists and is not a corpus; choose another folder")


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder beside this one. It replaces this one on success, and is deleted on failure."""
    check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as beside:
        fresh, old = Path(beside) / "new", Path(beside) / "old"
        fresh.mkdir()
        yield fresh
        try:
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
        except BaseException:  # Ctrl-C too: what is in `beside` goes
            if old.exists() and not folder.exists():
                old.rename(folder)
            raise


def load(folder: Path, vocabulary: Vocabulary | None = None) -> Corpus:
    """The corpus in a folder, its arrays and posts mapped rather than read; a shard's vocabulary lies elsewhere."""
    manifest = _manifest(folder)
    try:
        _check_sizes(folder, manifest["bytes"])
        candidates, *history = (_keywords(entry) for entry in (manifest["candidates"], *manifest["history"]))
        settings = TextSettings(**manifest["settings"])
        align = manifest["windowing"].pop("align")
        windowing = Windowing(**manifest["windowing"], align=align and datetime.fromisoformat(align))
        windows = tuple(Window(*map(datetime.fromisoformat, pair)) for pair in manifest["windows"])
        adjacent, n_distinct = bool(manifest["adjacent"]), int(manifest["n_distinct"])
    except (KeyError, TypeError, ValueError, AttributeError, SettingError) as error:
        raise _damaged(folder / MANIFEST, error) from error
    arrays = _read_arrays(folder / "arrays.arrow")
    corpus = Corpus(
        documents=Documents(**{n: arrays[f"documents.{n}"] for n in _array_names()}),
        observed=Ragged(arrays["observed.indptr"], arrays["observed.values"]),
        apart=Documents(**{n: arrays[f"apart.{n}"] for n in _array_names()}),
        vocabulary=vocabulary or Vocabulary.load(folder / "vocabulary.parquet"),
        candidates=candidates,
        windows=windows,
        history=tuple(history),
        posts=PostTable.open(folder / "posts.arrow"),
        adjacent=adjacent,
        settings=settings,
        windowing=windowing,
        n_distinct=n_distinct,
    )
    _check(corpus, folder)
    return corpus


def write(corpus: Corpus, folder: Path, *, vocabulary: bool = True, posts: Path | None = None) -> None:
    """Writes every file; the manifest comes last, because it has the sizes of the others.

    A shard shares its vocabulary, and `posts` names a file that holds its posts already.
    """
    if posts is None:
        corpus.posts.save(folder / "posts.arrow")
    else:
        _link(posts, folder / "posts.arrow")
    if vocabulary:
        corpus.vocabulary.save(folder / "vocabulary.parquet")
    arrays: dict[str, NDArray[Any]] = {
        "observed.indptr": corpus.observed.indptr,
        "observed.values": corpus.observed.values,
    }
    for part in _PARTS:
        arrays |= {f"{part}.{name}": array for name, array in getattr(corpus, part).arrays().items()}
    _write_arrays(arrays, folder / "arrays.arrow")
    manifest = {"format": "klda corpus", "version": VERSION} | describe(corpus)
    manifest["bytes"] = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")


def describe(corpus: Corpus) -> dict[str, Any]:
    """The facts about a corpus in its manifest, as plain data."""
    return {
        "settings": asdict(corpus.settings),
        "windowing": asdict(corpus.windowing)
        | {"align": corpus.windowing.align and corpus.windowing.align.isoformat()},
        "windows": [(window.start.isoformat(), window.end.isoformat()) for window in corpus.windows],
        "adjacent": corpus.adjacent,
        "n_distinct": corpus.n_distinct,
        "candidates": [(keyword.text, keyword.forms) for keyword in corpus.candidates],
        "history": [[(keyword.text, keyword.forms) for keyword in keywords] for keywords in corpus.history],
    }


def _link(source: Path, target: Path) -> None:
    """A hard link to the file, or a copy if the disk has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _write_arrays(arrays: dict[str, NDArray[Any]], path: Path) -> None:
    """One row of lists, because arrays of unequal length cannot be columns of one table."""
    columns = []
    for array in arrays.values():
        values = pa.array(array)
        columns.append(pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values))
    batch = pa.RecordBatch.from_arrays(columns, names=list(arrays))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with pa.memory_map(str(path)) as source:
            batch = pa.ipc.open_file(source).get_batch(0)
        arrays = {n: batch.column(n).values.to_numpy(zero_copy_only=True) for n in batch.schema.names}
    except (OSError, pa.ArrowInvalid, AttributeError) as error:
        raise _damaged(path, error) from error
    wanted = {f"{part}.{name}" for part in _PARTS for name in _array_names()} | {"observed.indptr", "observed.values"}
    if wanted - set(arrays):
        raise _damaged(path, f"no {', '.join(sorted(wanted - set(arrays)))}")
    return arrays


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        known = manifest["format"] == "klda corpus" and manifest["version"]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FormatError(f"{folder}: not a corpus (it has no corpus.json); make one with `klda prepare`") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, error) from error
    if known != VERSION:
        raise FormatError(f"{path}: format version {known!r}, this program reads {VERSION}; update it or prepare again")
    return dict(manifest)


def _keywords(entry: list[tuple[str, list[str]]]) -> KeywordSet:
    return KeywordSet(tuple(Keyword(text, tuple(forms)) for text, forms in entry))


def _array_names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Documents))


def _check_sizes(folder: Path, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        path = folder / name
        actual = path.stat().st_size if path.is_file() else None
        if actual != size:
            raise _damaged(path, "it is missing" if actual is None else f"{actual} bytes, expected {size}")


def _check(corpus: Corpus, folder: Path) -> None:
    """Refuses files that do not fit together, without reading through them."""
    fits = (
        len(corpus.observed) == len(corpus.documents)
        and len(corpus.history) == len(corpus.windows)
        and all(
            len(d.indptr) == len(d) + 1 == len(d.post) + 1 == len(d.window) + 1
            and d.indptr[-1] == len(d.words) == len(d.counts)
            for d in (corpus.documents, corpus.apart)
        )
        and corpus.observed.indptr[-1] == len(corpus.observed.values)
    )
    if not fits:
        raise _damaged(folder, "its files do not fit together")


def _damaged(path: Path, reason: object) -> FormatError:
    return FormatError(f"{path}: damaged ({reason}); prepare the corpus again")
