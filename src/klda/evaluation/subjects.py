"""Subjects to monitor in a replay: first keywords, and where an archive has them, the labels that are on topic."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klda.errors import InputError, SettingError
from klda.types import KeywordSet

SHOWN_LABELS = 6
"""Labels of an archive that the error names if a subject's labels are not among them."""


@dataclass(frozen=True)
class Subject:
    """One subject of a replay."""

    name: str
    keywords: KeywordSet
    labels: frozenset[str] = frozenset()
    """A post is on topic when one of its labels is one of these; empty where the archive has no labels."""
    split: str | None = None
    subject: str | None = None
    """The subject in words; if it is None, the name stands for it."""

    @property
    def in_words(self) -> str:
        """What policies are told that it is about.

        >>> Subject("voting_by_mail", KeywordSet.of("ballot")).in_words
        'voting by mail'
        """
        return self.subject or self.name.replace("_", " ")


def load_subjects(path: Path, split: str | None = None) -> tuple[Subject, ...]:
    """The subjects in a JSON or TOML file, all or those of one split.

    The file holds a list `subjects`, each with `name` and `keywords`, and optionally `subject` (it in words), `labels`
    and `split`.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); give a JSON or TOML file of subjects") from error
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        kind = f"not valid {path.suffix[1:]}" if path.suffix in (".json", ".toml") else "not JSON or TOML"
        raise InputError(f"{path}: {kind} ({error}); give a JSON or TOML file of subjects") from error
    listed = content.get("subjects") if isinstance(content, Mapping) else None
    if not isinstance(listed, list) or not listed:
        raise InputError(f'{path}: no list "subjects"; write {{"subjects": [{{"name": …, "keywords": […]}}]}}')
    subjects = tuple(_subject(path, i, plain) for i, plain in enumerate(listed))
    twice = sorted({s.name for s in subjects if sum(t.name == s.name for t in subjects) > 1})
    if twice:
        raise InputError(f"{path}: two subjects named {', '.join(twice)}; names must differ")
    if split is None:
        return subjects
    chosen = tuple(subject for subject in subjects if subject.split == split)
    if not chosen:
        known = sorted({s.split for s in subjects if s.split})
        raise SettingError(f"{path}: no subject of split {split!r}; the file has {', '.join(known) or 'no splits'}")
    return chosen


def labels_in(text: str) -> frozenset[str]:
    """The labels in a text with commas between them, and the text as a whole.

    >>> sorted(labels_in("AAPL, GOOG")), sorted(labels_in("AAPL"))
    (['AAPL', 'AAPL, GOOG', 'GOOG'], ['AAPL'])
    """
    return frozenset({text, *filter(None, map(str.strip, text.split(",")))})


def check_labels(subjects: Sequence[Subject], labels: Iterable[str | None]) -> None:
    """Refuses a subject whose labels no post of the archive has, because every policy would score 0 on it."""
    if not any(subject.labels for subject in subjects):
        return
    known: Counter[str] = Counter()
    for text, n in Counter(label for label in labels if label is not None).items():
        known.update(dict.fromkeys(sorted(labels_in(text) - {text} or {text}), n))  # the same message every time
    for subject in subjects:
        if subject.labels and subject.labels.isdisjoint(known):
            names = ", ".join(sorted(subject.labels))
            usual = ", ".join(label for label, _ in known.most_common(SHOWN_LABELS))
            has = f"the most frequent of its {len(known):,} labels are {usual}" if known else "it has no labels at all"
            raise SettingError(
                f"subject {subject.name!r}: no post of the archive has the label {names}; {has}. "
                "Correct the labels of the subject, or leave them out"
            )


def _subject(path: Path, position: int, plain: Any) -> Subject:
    where = f"{path}: subject {position + 1}"
    if not isinstance(plain, Mapping):
        raise InputError(f"{where}: not an object with name and keywords")
    name, keywords = plain.get("name"), plain.get("keywords")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: field name is missing or empty")
    if not isinstance(keywords, list) or not keywords or not all(isinstance(k, str) and k.strip() for k in keywords):
        raise InputError(f"{where} ({name}): field keywords must be a list of words")
    labels = plain.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{where} ({name}): field labels must be a list of texts")
    split = plain.get("split")
    if split is not None and not isinstance(split, str):
        raise InputError(f"{where} ({name}): field split must be a text")
    subject = plain.get("subject")
    if subject is not None and (not isinstance(subject, str) or not subject.strip()):
        raise InputError(f"{where} ({name}): field subject must be a text: what it is about, in words")
    return Subject(name, KeywordSet.of(*keywords), frozenset(labels), split, subject)
