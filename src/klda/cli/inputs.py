"""From what a user names to a corpus: files of posts, a corpus folder, or the corpus that a model was trained on."""

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
from klda.text.languages import other_language, taken_as_written
from klda.text.shards import load_corpus
from klda.text.stemming import STEMMED
from klda.text.storage import is_corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Progress

SAMPLE = 300
"""Posts that are looked at."""


def tell_language(posts: PostTable, language: str, *, filtered: bool = False) -> None:
    """Writes a note to standard error where stemmer and stop words are not those of the posts.

    `filtered` posts were chosen by their language, so that only what is known of it matters.
    """
    if taken_as_written(language):
        say(
            f"Note: --language {language}: there is neither a stemmer nor a list of stop words nor a table of "
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
            f"Note: most posts look {name}, {count:,} of {len(rows):,} looked at: add --language {code}, or stop words "
            "count as words and stems are wrong"
        )


TRAINED_ON = "trained_on.json"
"""Beside a model: which corpus it was trained on."""


@dataclass(frozen=True)
class Reading:
    """How posts are to be read."""

    mapping: dict[str, str]
    reposts: bool = True
    languages: tuple[str, ...] | None = None
    timezone: str | None = None
    strict: bool = False
    date_format: str | None = None

    def posts(self, files: Sequence[Path], memory: int | None = None) -> PostReader:
        """A reader of these files; `memory` bounds what it remembers of the ids it has met."""
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
    """The corpus in a folder that `klda prepare` wrote, or one made from files of posts; bad lines are reported."""
    if len(paths) == 1 and is_corpus(paths[0]):
        return load_corpus(paths[0])
    posts = reading.posts(paths)
    with telling_bad_lines(posts, paths):
        corpus = Corpus.from_posts(posts, keywords, window=window, settings=settings, progress=progress)
    tell_language(corpus.posts, settings.language, filtered=reading.languages is not None)
    return corpus


def remember_corpus(model: Path, corpus: Path) -> None:
    """Notes beside a model which corpus it was trained on."""
    (model / TRAINED_ON).write_text(json.dumps({"corpus": str(corpus.resolve())}) + "\n", encoding="utf-8")


def corpus_of_model(model: Path) -> Path:
    """The folder of the corpus that a model was trained on."""
    try:
        return Path(json.loads((model / TRAINED_ON).read_text(encoding="utf-8"))["corpus"])
    except FileNotFoundError:
        raise InputError(
            f"{model}: does not say which corpus it was trained on; name the files or the corpus too"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{model / TRAINED_ON}: damaged ({error}); name the files or the corpus too") from error
