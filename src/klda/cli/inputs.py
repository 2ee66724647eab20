"""Opens the corpus that a user names: files of posts, a corpus folder, or the corpus of a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from klda.cli.bad_lines import telling_bad_lines
from klda.cli.output import say
from klda.errors import FormatError, InputError
from klda.posts import PostReader, read_posts
from klda.posts.schema import PostTable
from klda.text.corpus import Corpus
from klda.text.languages import STEMMED, other_language, taken_as_written
from klda.text.shards import load_corpus
from klda.text.storage import is_corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Progress

TRAINED_ON = "trained_on.json"
"""File in a model's folder that names its corpus."""
SAMPLE = 300
"""Number of posts whose language is checked."""


@dataclass(frozen=True)
class Reading:
    """Options for reading posts."""

    mapping: dict[str, str]
    reposts: bool = True
    languages: tuple[str, ...] | None = None
    timezone: str | None = None
    strict: bool = False
    date_format: str | None = None

    def posts(self, files: Sequence[Path], memory: int | None = None) -> PostReader:
        """A reader of these files. `memory` limits the ids that it remembers."""
        return read_posts(
            files,
            memory=memory,
            mapping=self.mapping,
            reposts="keep" if self.reposts else "drop",
            languages=self.languages,
            timezone=self.timezone,
            strict=self.strict,
            date_format=self.date_format,
        )


def open_corpus(
    paths: Sequence[Path],
    keywords: KeywordSet,
    reading: Reading,
    settings: TextSettings,
    window: str,
    progress: Progress,
) -> Corpus:
    """The corpus in a folder of `klda prepare`, or made from files of posts. Bad lines are reported."""
    if len(paths) == 1 and is_corpus(paths[0]):
        return load_corpus(paths[0])
    posts = reading.posts(paths)
    with telling_bad_lines(posts, paths):
        corpus = Corpus.from_posts(posts, keywords, window=window, settings=settings, progress=progress)
    tell_language(corpus.posts, settings.language, filtered=reading.languages is not None)
    return corpus


def remember_corpus(model: Path, corpus: Path) -> None:
    """Writes the path of its corpus into a model's folder."""
    (model / TRAINED_ON).write_text(json.dumps({"corpus": str(corpus.resolve())}) + "\n", encoding="utf-8")


def corpus_of_model(model: Path) -> Path:
    """The folder of the corpus that a model was trained on."""
    try:
        return Path(json.loads((model / TRAINED_ON).read_text(encoding="utf-8"))["corpus"])
    except FileNotFoundError:
        raise InputError(f"{model}: has no record of its corpus; name the files or the corpus too") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{model / TRAINED_ON}: damaged ({error}); name the files or the corpus too") from error


def tell_language(posts: PostTable, language: str, *, filtered: bool = False) -> None:
    """Writes a note to standard error if the posts are in another language than `language`, or if it is little known.

    filtered: whether posts were chosen by their language. Then only the second note can apply.
    """
    if taken_as_written(language):
        say(
            f"Note: --language {language}: klda has no stemmer, no stop words and no table of word "
            "frequencies for it; words are taken as written"
        )
    if filtered or not len(posts):
        return
    rows = np.unique(np.linspace(0, len(posts) - 1, min(SAMPLE, len(posts))).astype(np.int64))
    found = other_language(posts.texts(rows), language)
    if found is not None:
        code, count = found
        name = f"{STEMMED[code].capitalize()} ({code})" if code in STEMMED else code
        say(
            f"Note: most posts seem to be {name} ({count:,} of {len(rows):,} checked); add --language {code}, or stop "
            "words count as words and stems are wrong"
        )
