"""`klda start`: a first keyword list from a subject in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from klda.cli import options as o
from klda.cli.arguments import check_files, check_output, parse_mapping, parse_names
from klda.cli.output import ListFormat, out, print_csv, print_json, print_table, progress_bar, say, starting
from klda.errors import InputError, SettingError

if TYPE_CHECKING:
    from klda.advice.first_list import FirstList
    from klda.cli.inputs import Reading
    from klda.types import KeywordSet

SHOWN = 100
"""Characters of an example post in a table."""


def start(
    subject: Annotated[str, typer.Argument(help="The subject in words, such as 'electric cars in Norway'.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files or folders of posts; may be left out with --sample.", show_default=False),
    ] = None,
    sample: Annotated[
        list[Path] | None, typer.Option(help="Files of an unfiltered sample of the stream; they are read too.")
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(help="Posts on the subject: a file of posts, or a .txt file with a post on each line."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Most words of the list.")] = 10,
    pick: Annotated[
        str | None, typer.Option(help="Numbers of the words to take, with commas: 1,3,5. All if left out.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the taken words to a file, for --keywords @FILE of other commands.")
    ] = None,
    window: o.WindowLength = "7d",
    language: o.Language = "en",
    only_language: o.OnlyLanguage = False,
    reposts: o.Reposts = True,
    mapping: o.Mapping = None,
    timezone: o.Timezone = None,
    date_format: o.DateFormat = None,
    strict: o.Strict = False,
    output: Annotated[ListFormat, typer.Option("--format", help="How to print the result.")] = ListFormat.table,
) -> None:
    """Find a first keyword list for a subject in words: words of known posts, to choose from."""
    quiet = output is not ListFormat.table
    paths = [*(files or ()), *(sample or ())]
    check_files(*paths, examples)
    check_output(save, "--save")
    if not paths:
        raise InputError("nothing to read: name files of posts, or a --sample")
    numbers = None if pick is None else _numbers(pick)
    with starting(quiet):
        from klda.advice.first_list import subject_keyword
        from klda.cli.inputs import Reading, open_corpus
        from klda.policies.recommend import MIN_COUNT
        from klda.policies.start import start as find
        from klda.text.text_settings import TextSettings

    reading = Reading(
        parse_mapping(mapping or []), reposts, (language,) if only_language else None, timezone, strict, date_format
    )
    text = TextSettings(language=language, min_count=MIN_COUNT)
    whole = subject_keyword(subject, text)
    known = [] if examples is None else _example_posts(examples, reading)
    with progress_bar(quiet) as progress:
        corpus = open_corpus(paths, whole, reading, text, window, progress)
        found = find(subject, corpus, examples=known, most=most, progress=progress)
    taken = found.keywords if numbers is None else found.picked(*numbers)
    if save is not None and taken:
        _write(taken, subject, save)
    show(found, output)
    if taken and not quiet:
        names = f"@{save}" if save is not None else ",".join(form for keyword in taken for form in keyword.forms)
        command = shlex.join(["klda", "recommend", *map(str, paths), "--keywords", names, "--subject", subject])
        out.print(f"Go on with: {command}", markup=False, highlight=False, soft_wrap=True)


def show(found: FirstList, output: ListFormat) -> None:
    """Prints a first list."""
    if output is ListFormat.json:
        print_json(found.to_dict())
        return
    if output is ListFormat.csv:
        rows = [
            (n, word.keyword.text, " ".join(word.keyword.forms), word.posts, round(word.relevance, 4), word.text)
            for n, word in enumerate(found.words, 1)
        ]
        print_csv(("number", "keyword", "forms", "posts", "relevance", "why"), rows)
        for note in found.notes:
            say(f"Note: {note}")
        return
    for note in found.notes:
        out.print(f"Note: {note}", style="yellow", markup=False, highlight=False)
    if not found.words:
        out.print(found.headline, style="bold", markup=False, highlight=False)
        return
    from klda.advice.first_list import COLUMNS

    print_table(found.headline, COLUMNS, [(*row[:-1], _short(str(row[-1]))) for row in found.rows])


def _short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _numbers(text: str) -> list[int]:
    """The numbers in a text with commas."""
    names = parse_names(text)
    if not names or not all(name.isdecimal() for name in names):
        raise SettingError(f"--pick {text!r}: give numbers of words with commas, as in --pick 1,3,5")
    return [int(name) for name in names]


def _example_posts(path: Path, reading: Reading) -> Sequence[str]:
    """The texts of example posts."""
    if path.suffix.lower() != ".txt":
        found = [post.text for post in reading.posts([path])]
    else:
        try:
            found = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"--examples {path}: cannot be read ({error}); give UTF-8 text, one post a line"
            ) from error
    if not found:
        raise InputError(f"--examples {path}: holds no post; give posts on the subject")
    return found


def _write(keywords: KeywordSet, subject: str, path: Path) -> None:
    """Writes keywords as `--keywords @FILE` reads them: a line for each, with all forms that it was counted by."""
    lines = [f"# {' '.join(subject.split())}", *(", ".join(keyword.forms) for keyword in keywords)]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: the keywords cannot be written ({error.strerror}); give another path") from error
