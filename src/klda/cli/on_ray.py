"""Commands on a Ray cluster: preparing, training, and opening files from its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from klda.cli.bad_lines import no_posts, tell_bad_lines
from klda.cli.inputs import Reading, tell_language
from klda.posts.files import find_files
from klda.posts.formats.generic import Mapped, as_mapping, resolve
from klda.posts.formats.outcome import FOREIGN_FILE
from klda.posts.input_types import file_type
from klda.posts.read_report import ReadReport, combined
from klda.text.corpus import Corpus
from klda.text.recipe import Recipe
from klda.text.shards import ShardedCorpus, load_corpus
from klda.text.storage import is_corpus, save_corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Progress

if TYPE_CHECKING:
    from klda.model.klda import KLDA
    from klda.ray.input_files import SourceFile


def on_ray(address: str | None, workers: int | None = None) -> AbstractContextManager[None]:
    """A connection to Ray during a command. An error of ours if Ray is missing or does not answer."""
    from klda.ray.cluster import connected

    return connected(address, cpus=workers)


def prepare_on_ray(
    files: Sequence[Path], reading: Reading, recipe: Recipe, folder: Path, progress: Progress
) -> tuple[ReadReport, ShardedCorpus | None]:
    """The report of what was read, and the sharded corpus in the folder. None if there was no post."""
    from klda.ray.preparation import prepare

    done = prepare(source_files(files, reading.mapping), FileReading(reading), recipe, folder, progress=progress)
    return combined(done.reports, done.duplicates), done.corpus


def train_on_ray(model: KLDA, corpus: Path, folder: Path, *, workers: int, resume: bool) -> KLDA:
    """The model, trained by several workers on Ray."""
    from klda.ray.training import train

    return train(model, corpus, folder, workers=workers, resume=resume)


@contextmanager
def open_on_ray(
    paths: Sequence[Path],
    keywords: KeywordSet,
    reading: Reading,
    settings: TextSettings,
    window: str,
    progress: Progress,
) -> Iterator[Corpus]:
    """An existing corpus, or one that Ray makes from files of posts in a temporary folder."""
    if len(paths) == 1 and is_corpus(paths[0]):
        yield load_corpus(paths[0])
        return
    with _shared_folder() as folder:
        recipe = Recipe(keywords, window=window, settings=settings)
        report, shards = prepare_on_ray(paths, reading, recipe, folder / "corpus", progress)
        tell_bad_lines(report)
        if shards is None:
            raise no_posts(report, paths)
        corpus = load_corpus(folder / "corpus")
        tell_language(corpus.posts, settings.language, filtered=reading.languages is not None)
        yield corpus


def trained_on_ray(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
    """The model, trained by one worker on Ray. The result is the same as on this machine."""
    with _shared_folder() as folder:
        progress("training on Ray", 0, 1)
        save_corpus(corpus, folder / "corpus")
        trained = train_on_ray(model, folder / "corpus", folder / "run", workers=1, resume=False)
        progress("training on Ray", 1, 1)
        return trained


def source_files(paths: Sequence[Path], mapping: Mapping[str, str] | None = None) -> list[SourceFile]:
    """The files in these files, folders, Delta tables and addresses, in the given order."""
    from klda.ray.input_files import SourceFile, address, delta_files, is_delta, remote_files

    found: list[SourceFile] = []
    for path in paths:
        where = address(path)
        if is_delta(path):
            found.extend(delta_files(path, partial(_fields_of_posts, mapping=as_mapping(mapping))))
        elif where is not None:
            found.extend(remote_files(where))
        else:
            here = find_files(path)
            found.extend(SourceFile(str(file.resolve()), named, file.stat().st_size) for file, named in here)
    return found


def _fields_of_posts(own: Sequence[str], partitions: Sequence[str], mapping: Mapped) -> list[str]:
    """The partition columns with a field of posts that the files of a table do not have."""
    inside, whole = (resolve(tuple(names), mapping) for names in (own, [*own, *partitions]))
    fields = {column for column, instead in zip(whole, inside, strict=True) if instead not in own}
    return [name for name in partitions if name in fields]


@dataclass(frozen=True)
class FileReading:
    """Reads files in a task, in the same way as on this machine."""

    reading: Reading

    def __call__(self, files: Sequence[tuple[Path, bool]]) -> TaskPosts:
        """The posts in these files. Files that the user did not name may have a foreign format."""
        mapped = as_mapping(self.reading.mapping)
        known = [path for path, named in files if named or file_type(path, mapped) is not None]
        return TaskPosts(self.reading, known, len(files) - len(known))


class TaskPosts:
    """The posts of some files, and a report that can be sent back."""

    def __init__(self, reading: Reading, files: list[Path], foreign: int) -> None:
        self._reader = reading.posts(files) if files else None
        self._foreign = foreign

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields the posts, a few thousand at a time."""
        return iter(()) if self._reader is None else self._reader.batches()

    @property
    def report(self) -> ReadReport:
        """The report on the lines read so far."""
        read = ReadReport() if self._reader is None else self._reader.report
        skipped = Counter(read.skipped) + Counter({FOREIGN_FILE: self._foreign})
        return replace(read, lines=read.lines + self._foreign, bad=dict(read.bad), skipped=dict(skipped))


@contextmanager
def _shared_folder() -> Iterator[Path]:
    """A temporary folder in the current one. On a cluster, commands start where all machines see their files."""
    with TemporaryDirectory(prefix=".klda-", dir=Path.cwd()) as folder:
        yield Path(folder)
