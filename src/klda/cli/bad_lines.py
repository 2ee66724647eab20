"""Messages about lines that could not be used: how many, why, and the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from klda.cli.output import say
from klda.errors import DataError

if TYPE_CHECKING:
    from klda.posts import PostReader
    from klda.posts.read_report import ReadReport

SHOWN_BAD_LINES = 5


@contextmanager
def telling_bad_lines(posts: PostReader, files: Sequence[Path]) -> Iterator[None]:
    """Reports bad lines after the block, also if too few posts were left."""
    try:
        yield
    except DataError:
        tell_bad_lines(posts.report)
        check_posts(posts.report, files)
        raise
    tell_bad_lines(posts.report)


def check_posts(report: ReadReport, files: Sequence[Path]) -> None:
    """Refuses files without a post."""
    if not report.posts:
        raise no_posts(report, files)


def no_posts(report: ReadReport, files: Sequence[Path]) -> DataError:
    """The error for files without a post."""
    from klda.posts.formats.outcome import LANGUAGE

    names = ", ".join(map(str, files[:3])) + (f" and {len(files) - 3:,} more" if len(files) > 3 else "")
    foreign = report.skipped.get(LANGUAGE, 0)
    if foreign:
        return DataError(
            f"{names}: no posts are left; {foreign:,} of {report.lines:,} were dropped because of their language: "
            "give their language as --language, or leave out --only-language"
        )
    empty = "" if report.lines else ", nor any other record"
    return DataError(f"{names}: no posts{empty}; check the files and the filters")


def tell_bad_lines(report: ReadReport) -> None:
    """Writes the bad lines to standard error, if there are any."""
    n_bad = sum(report.bad.values())
    if not n_bad:
        return
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in report.bad.items())
    say(f"{n_bad:,} of {report.lines:,} lines could not be used: {reasons}")
    for example in report.examples[:SHOWN_BAD_LINES]:
        say(f"  {example}")
    if n_bad > SHOWN_BAD_LINES:
        say(f"  … and {n_bad - SHOWN_BAD_LINES:,} more")
