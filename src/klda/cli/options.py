"""Options that several commands share."""

from __future__ import annotations

import getpass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from klda.cli.output import Format


class Engine(StrEnum):
    """Where the work is done."""

    local = "local"
    ray = "ray"


Files = Annotated[
    list[Path],
    typer.Argument(help="Files or folders of posts; the format is recognised. May be .gz or .zst.", show_default=False),
]
Keywords = Annotated[
    str,
    typer.Option("--keywords", "-k", help='Current keywords: a, "two words", a AND (b OR c), -excluded; or @file.'),
]
Candidates = Annotated[
    str | None,
    typer.Option(
        "--candidates", help="Words that may be proposed, written like --keywords; found in the data if left out."
    ),
]
CorpusCandidates = Annotated[
    str | None,
    typer.Option(
        "--candidates",
        help="More words that a model of this corpus knows and may propose, written like --keywords.",
    ),
]
WindowLength = Annotated[str, typer.Option("--window", help="Length of a window: 7d, 1d, 6h, 30m.")]
Reposts = Annotated[bool, typer.Option("--reposts/--no-reposts", help="Keep reposts, or drop and count them.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad line instead of counting it.")]
Mapping = Annotated[
    list[str] | None,
    typer.Option("--map", help="A foreign column name, as field=column; may be repeated.", show_default=False),
]
Timezone = Annotated[
    str | None, typer.Option("--timezone", help="Time zone of times without one, for example Europe/Berlin.")
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format",
        help="How times are written, such as '%d/%m/%Y %H:%M'; needed where day and month cannot be told apart.",
    ),
]
Language = Annotated[str, typer.Option("--language", help="Language of the text: stemmer and stop words follow it.")]
OnlyLanguage = Annotated[
    bool, typer.Option("--only-language", help="Drop and count posts in other languages than --language.")
]
MinCount = Annotated[int, typer.Option("--min-count", min=1, help="Rarer words share one placeholder.")]
Stem = Annotated[bool, typer.Option("--stem", help="Match every form of a typed keyword's stem, not only as typed.")]
Adjacent = Annotated[bool, typer.Option("--adjacent", help="Words of a phrase must stand side by side.")]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to print the result.")]
EngineName = Annotated[Engine, typer.Option("--engine", help="Work on this machine, or on Ray (klda[ray]).")]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Ray cluster, as host:port or auto; Ray is started here if left out."),
]
Subjects = Annotated[
    Path, typer.Option("--subjects", help="JSON or TOML file of subjects: name, keywords, labels, split.")
]
Split = Annotated[str | None, typer.Option("--split", help="Only the subjects of this split.")]
Weeks = Annotated[int, typer.Option("--weeks", min=1, help="Windows of history before a test window.")]
TestWeeks = Annotated[
    str,
    typer.Option("--test-weeks", help="Test windows: a number (the last N) or dates (YYYY-MM-DD, comma-separated)."),
]
ListSizes = Annotated[
    str, typer.Option("--top", help="How many words of each keyword count as proposed, comma-separated.")
]
CaseSize = Annotated[int, typer.Option("--candidates", min=2, help="Number of candidates in a case.")]
TrainingPosts = Annotated[
    Path | None,
    typer.Option("--training", help="Posts with repost counts, from which viral learns if the archive has none."),
]
Processes = Annotated[
    int | None, typer.Option("--workers", min=1, help="Number of processes; one for each core if left out.")
]
Work = Annotated[
    Path | None, typer.Option("--work", help="Folder for results, so that the same command can continue after a stop.")
]
PolicySettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A setting of the policy, as name=value; may be repeated. See klda policies.", show_default=False
    ),
]
StudySettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A setting of a policy, as policy.name=value, such as klda-paper.iterations=500; may be repeated.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]


Name = Annotated[str, typer.Argument(help="Name of the monitor.", show_default=False)]
Home = Annotated[
    Path,
    typer.Option("--home", envvar="KLDA_HOME", file_okay=False, help="Folder of all monitors; also from KLDA_HOME."),
]
ProposalId = Annotated[
    str | None, typer.Argument(help="Id of the proposal; the waiting one if left out.", show_default=False)
]
By = Annotated[str | None, typer.Option("--by", help="Who decides; your user name if left out.")]
Note = Annotated[str, typer.Option("--note", help="Why, for the history.")]

HOME = Path("monitors")


def identity(given: str | None) -> str:
    """The name of the person who gives the command."""
    return given or getpass.getuser()
