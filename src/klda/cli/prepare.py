"""`klda prepare`: files of posts → a corpus on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from klda.cli.arguments import parse_keywords, parse_mapping
from klda.cli.options import (
    Adjacent,
    Candidates,
    Files,
    Keywords,
    Language,
    Mapping,
    MinCount,
    OnlyLanguage,
    OutputFormat,
    Reposts,
    Stem,
    Strict,
    Timezone,
    WindowLength,
)
from klda.cli.output import Format, out as terminal, print_json, print_table
from klda.cli.progress import progress_bar


def prepare(
    files: Files,
    keywords: Keywords,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the corpus to.")],
    candidates: Candidates = None,
    window: WindowLength = "7d",
    language: Language = "en",
    only_language: OnlyLanguage = False,
    min_count: MinCount = 10,
    stem: Stem = False,
    adjacent: Adjacent = False,
    reposts: Reposts = True,
    mapping: Mapping = None,
    timezone: Timezone = None,
    strict: Strict = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores if left out.")] = None,
    format: OutputFormat = Format.table,
) -> None:
    """Turn posts into a corpus that a model can train on, and say what was read, kept and refused."""
    from klda.corpus.corpus import Corpus
    from klda.corpus.text import TextSettings
    from klda.sources import read_posts

    with progress_bar(quiet=format is Format.json) as progress:
        posts = read_posts(
            files,
            mapping=parse_mapping(mapping or []),
            reposts="keep" if reposts else "drop",
            languages=[language] if only_language else None,
            timezone=timezone,
            strict=strict,
        )
        corpus = Corpus.from_posts(
            posts,
            parse_keywords(keywords),
            candidates=None if candidates is None else parse_keywords(candidates, "--candidates"),
            window=window,
            settings=TextSettings(language=language, min_count=min_count),
            stem_keywords=stem,
            adjacent=adjacent,
            workers=workers,
            progress=progress,
        )
        progress("writing", 0, 1)
        corpus.save(out)
        progress("writing", 1, 1)
    summary = posts.report.to_dict() | corpus.summary.to_dict()
    if format is Format.json:
        print_json(summary | {"corpus": str(out)})
    else:
        _print(summary, out)


def _print(summary: dict[str, Any], folder: Path) -> None:
    rows = [
        ("lines read", summary["lines"]),
        ("posts", summary["posts"]),
        ("duplicates dropped", summary["duplicates"]),
        ("reposts dropped", summary["reposts_dropped"]),
        *((f"skipped: {reason}", count) for reason, count in summary["skipped"].items()),
        *((f"bad: {reason}", count) for reason, count in summary["bad"].items()),
        ("documents with a candidate", summary["documents"]),
        ("without, kept apart", summary["without_keyword"]),
        ("tokens", summary["tokens"]),
        ("vocabulary before", summary["vocabulary_before"]),
        ("vocabulary after", summary["vocabulary"]),
    ]
    print_table(f"Corpus in {folder}", ("what", "how many"), rows)
    print_table(
        "Windows",
        ("from", "posts", "documents", "tokens"),
        [(w["start"], w["posts"], w["documents"], w["tokens"]) for w in summary["windows"]],
    )
    for line in summary["bad_examples"][:5]:
        terminal.print(
            f"{line['file']}:{line['line']}: {line['reason']}. {line['hint']}", markup=False, highlight=False
        )
