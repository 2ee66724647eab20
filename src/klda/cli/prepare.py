"""`klda prepare`: turns files of posts into a corpus on disk."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from klda.cli.arguments import check_files, check_folder, check_local, parse_keywords, parse_mapping, parse_size
from klda.cli.bad_lines import SHOWN_BAD_LINES, check_posts, no_posts
from klda.cli.options import (
    Address,
    Adjacent,
    CorpusCandidates,
    DateFormat,
    Engine,
    EngineName,
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
from klda.cli.output import Format, print_json, print_table, progress_bar, starting
from klda.cli.output import out as terminal
from klda.errors import DataError, SettingError

if TYPE_CHECKING:
    from klda.posts.read_report import ReadReport
    from klda.text.shards import CorpusSummary


def prepare(
    files: Files,
    keywords: Keywords,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the corpus to.")],
    candidates: CorpusCandidates = None,
    window: WindowLength = "7d",
    language: Language = "en",
    only_language: OnlyLanguage = False,
    min_count: MinCount = 10,
    stem: Stem = False,
    adjacent: Adjacent = False,
    reposts: Reposts = True,
    mapping: Mapping = None,
    timezone: Timezone = None,
    date_format: DateFormat = None,
    strict: Strict = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; one for each core if left out.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Work on disk within this memory, as in 4GiB; the corpus is written in shards."),
    ] = None,
    engine: EngineName = Engine.local,
    address: Address = None,
    output: OutputFormat = Format.table,
) -> None:
    """Turn posts into a corpus that a model can train on, and say what was read, kept and refused."""
    quiet = output is Format.json
    check_files(*files)
    current = parse_keywords(keywords)
    with starting(quiet):
        from klda.cli.inputs import Reading, tell_language
        from klda.text.corpus import Corpus
        from klda.text.out_of_core import prepare as prepare_on_disk
        from klda.text.recipe import Recipe
        from klda.text.shards import NO_CORPUS, in_all, summarise
        from klda.text.storage import is_corpus, save_corpus
        from klda.text.text_settings import TextSettings

    check_folder(out, "--out", "corpus", is_corpus)  # before the files are read, not after
    recipe = Recipe(
        current,
        None if candidates is None else parse_keywords(candidates, "--candidates"),
        window=window,
        settings=TextSettings(language=language, min_count=min_count),
        stem_keywords=stem,
        adjacent=adjacent,
    )
    reading = Reading(
        parse_mapping(mapping or []), reposts, (language,) if only_language else None, timezone, strict, date_format
    )
    if engine is Engine.ray:
        if memory is not None:
            raise SettingError(f"--memory {memory} bounds work on this machine; leave it out, or use --engine local")
        from klda.cli.on_ray import on_ray, prepare_on_ray

        with on_ray(address, workers), progress_bar(quiet) as progress:
            report, made = prepare_on_ray(files, reading, recipe, out, progress)
        if made is None:
            _show(_plain(report, NO_CORPUS), None, output)
            raise no_posts(report, files)
        _show(_plain(report, in_all([summarise(shard) for shard in made])), out, output)
        tell_language(made.shard(0).posts, language, filtered=only_language)
        return
    check_local(address)
    limit = None if memory is None else parse_size(memory)
    posts = reading.posts(files, limit and limit // 8)
    try:
        with progress_bar(quiet) as progress:
            if limit is None:
                corpus = Corpus.made(posts, recipe, workers=workers, progress=progress)
                progress("writing", 0, 1)
                save_corpus(corpus, out)
                progress("writing", 1, 1)
                summary, sample = summarise(corpus), corpus
            else:
                shards = prepare_on_disk(posts, recipe, out, memory=limit, workers=workers, progress=progress)
                summary, sample = in_all([summarise(shard) for shard in shards]), shards.shard(0)
    except DataError:
        # no line was usable: the report says why, and must not be lost
        _show(_plain(posts.report, NO_CORPUS), None, output)
        check_posts(posts.report, files)
        raise
    _show(_plain(posts.report, summary), out, output)
    tell_language(sample.posts, language, filtered=only_language)


def _show(summary: dict[str, Any], folder: Path | None, output: Format) -> None:
    if output is Format.json:
        print_json(summary | {"corpus": None if folder is None else str(folder)})
    else:
        _print(summary, folder)


def _plain(read: ReadReport, made: CorpusSummary) -> dict[str, Any]:
    """What was read and kept, as plain data. The names are part of the command's interface."""
    return {
        "lines": read.lines,
        "posts": read.posts,
        "bad": dict(read.bad),
        "skipped": dict(read.skipped),
        "duplicates": read.duplicates,
        "reposts_dropped": read.reposts_dropped,
        "documents": made.documents,
        "without_keyword": made.without_keyword,
        "tokens": made.tokens,
        "vocabulary_before": made.vocabulary_before,
        "vocabulary": made.vocabulary,
        "windows": [asdict(w) | {"window": w.window.start.isoformat()} for w in made.windows],
        "bad_examples": [asdict(example) for example in read.examples],
    }


def _print(summary: dict[str, Any], folder: Path | None) -> None:
    rows = [
        ("lines read", summary["lines"]),
        ("posts", summary["posts"]),
        ("duplicates dropped", summary["duplicates"]),
        ("reposts dropped", summary["reposts_dropped"]),
        *((f"skipped: {reason}", count) for reason, count in summary["skipped"].items()),
        *((f"bad: {reason}", count) for reason, count in summary["bad"].items()),
        ("documents with a candidate", summary["documents"]),
        ("without one, kept apart", summary["without_keyword"]),
        ("tokens", summary["tokens"]),
        ("distinct words", summary["vocabulary_before"]),
        ("vocabulary", summary["vocabulary"]),
    ]
    print_table(f"Corpus in {folder}" if folder else "No corpus was written", ("what", "how many"), rows)
    windows = [
        (w["window"][:16].replace("T", " "), w["documents"], w["without_keyword"], w["tokens"])
        for w in summary["windows"]
    ]
    if windows:
        print_table("Windows", ("from (UTC)", "documents", "apart", "tokens"), windows)
    if summary["posts"] and not summary["documents"]:
        terminal.print("No post carries one of the keywords: check their spelling, or try --stem.", style="yellow")
    for bad in summary["bad_examples"][:SHOWN_BAD_LINES]:
        terminal.print(
            f"{bad['file']}, line {bad['line']}: {bad['reason']}; {bad['hint']}", markup=False, highlight=False
        )
