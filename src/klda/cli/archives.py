"""The prepared archive that commands replay, its cache, and options that name cases."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import klda
from klda.cli.arguments import parse_names
from klda.cli.bad_lines import telling_bad_lines
from klda.errors import SettingError

if TYPE_CHECKING:
    from klda.cli.inputs import Reading
    from klda.evaluation.archive import Archive
    from klda.evaluation.backtest import BacktestSettings
    from klda.evaluation.subjects import Subject
    from klda.text.text_settings import TextSettings
    from klda.types import Progress


@dataclass(frozen=True)
class OpenReplay:
    """An archive that is ready to be replayed, and the folder with everything about it."""

    folder: Path
    archive: Archive
    corpus: Path
    """Folder of the archive's corpus."""
    training: str | None
    """Folder of the corpus from which `viral` learns."""

    def results(self, settings: BacktestSettings) -> Path:
        """The folder of results with these settings. All policies share it."""
        return self.folder / f"{settings.loop}-{_key(asdict(settings) | {'policies': None})}"


def open_replay(
    files: list[Path],
    subjects: Sequence[Subject],
    reading: Reading,
    window: str,
    *,
    language: str = "en",
    work: Path | None,
    training: Path | None,
    progress: Progress,
) -> OpenReplay:
    """The archive in these files. It is prepared once, and kept in `work` or in the user's cache."""
    from klda.cli.inputs import Reading, tell_language
    from klda.evaluation.archive import Archive
    from klda.policies.recommend import MIN_COUNT
    from klda.text.shards import load_corpus
    from klda.text.text_settings import TextSettings

    text = TextSettings(language=language, min_count=MIN_COUNT)
    facts = asdict(reading) | {"window": window, "text": text, "version": klda.__version__}
    folder = (work or _cache()) / _key(facts | {"files": _as_they_are(files)})
    corpus = _prepared(folder / "archive", files, subjects, reading, window, text, progress)
    learn_from = None
    if training is not None:
        originals = Reading({}, reposts=False)  # a repost carries the count of its original
        name = f"training-{_key({'files': _as_they_are([training])})}"
        learn_from = str(_prepared(folder / name, [training], subjects, originals, window, text, progress))
    archive = Archive(load_corpus(corpus))
    tell_language(archive.corpus.posts, language)
    return OpenReplay(folder, archive, corpus, learn_from)


def _prepared(
    folder: Path,
    files: list[Path],
    subjects: Sequence[Subject],
    reading: Reading,
    window: str,
    text: TextSettings,
    progress: Progress,
) -> Path:
    from klda.evaluation.comparison import archive_corpus
    from klda.text.storage import save_corpus

    if not (folder / "corpus.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        posts = reading.posts(files)
        with telling_bad_lines(posts, files):
            save_corpus(archive_corpus(posts, subjects, window, text, progress), folder)
    return folder


def _cache() -> Path:
    """The default folder for replays: the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "klda" / "backtest"


def _as_they_are(paths: list[Path]) -> list[tuple[str, int, int]]:
    """Name, size and time of each file, to see whether files have changed."""
    from klda.posts.files import find_files

    files = [(file.resolve(), file.stat()) for file, _ in find_files(paths)]
    return [(str(file), facts.st_size, facts.st_mtime_ns) for file, facts in files]


def _key(facts: dict[str, Any]) -> str:
    return hashlib.sha256(repr(sorted(facts.items())).encode()).hexdigest()[:16]


def policy_names(text: str, *, labels: bool = False) -> tuple[str, ...]:
    """The policies in a comma-separated text.

    >>> policy_names("counting, random")
    ('counting', 'random')
    """
    from klda.evaluation.comparison import known_names

    return known_names(parse_names(text), labels=labels, said=f"--policies {text!r}")


def list_sizes(text: str) -> tuple[int, ...]:
    """The sizes of lists in a comma-separated text.

    >>> list_sizes("2,3")
    (2, 3)
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise SettingError(f"--top {text!r}: give numbers from 1 on, with commas")
    return tuple(int(part) for part in parts)


def windows_to_test(text: str, archive: Archive) -> list[int]:
    """The test windows: the last ones by number, or those that contain the given dates."""
    from klda.evaluation.comparison import last_windows, windows_with

    if text.isdecimal():
        return last_windows(int(text), archive, "--test-weeks")
    days = []
    for part in text.split(","):
        try:
            days.append(date.fromisoformat(part.strip()))
        except ValueError:
            raise SettingError(f"--test-weeks {part!r}: give a number, or dates like 2020-04-06") from None
    return windows_with(days, archive, "--test-weeks")
