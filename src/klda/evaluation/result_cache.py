"""Results of a replay on disk, so that a stopped run continues where it was."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from klda.evaluation.subjects import Subject

Plain = dict[str, Any]
LONGEST_NAME = 80


def result_path(folder: Path, subject: Subject, *names: str) -> Path:
    """The file of a result about a subject. Other keywords, labels or words of the subject lead to another file.

    >>> from klda.types import KeywordSet
    >>> flu = Subject("health", KeywordSet.of("flu"))
    >>> path = result_path(Path("results"), flu, "health", "2026-01-05 06:00")
    >>> path.name[:23], path == result_path(Path("results"), flu, "health", "2026-01-05 06:00")
    ('health-2026-01-05-06-00', True)
    >>> path == result_path(Path("results"), Subject("health", KeywordSet.of("cough")), "health", "2026-01-05 06:00")
    False
    """
    asked = [(keyword.text, keyword.forms) for keyword in subject.keywords], sorted(subject.labels), subject.in_words
    told_apart = sha256(repr((names, asked)).encode()).hexdigest()[:8]
    readable = re.sub(r"[^\w.~]+", "-", "-".join(names))[:LONGEST_NAME]
    return folder / f"{readable}-{told_apart}.json"


def read_result(path: Path) -> Plain:
    """The content of a result file; empty if the file is missing or incomplete."""
    try:
        found: Plain = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found


def write_result(path: Path, result: Plain) -> None:
    """Writes a result; the file is either the old one or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(path)
