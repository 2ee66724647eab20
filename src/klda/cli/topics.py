"""`klda topics`: what a model's topics are, or what a set of keywords is expected to bring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from klda.cli.arguments import check_files, parse_keywords
from klda.cli.options import OutputFormat
from klda.cli.output import Format, print_json, print_table
from klda.cli.progress import starting


def topics(
    model: Annotated[Path, typer.Argument(help="Folder that klda train wrote.", show_default=False)],
    keywords: Annotated[
        str | None, typer.Option("--keywords", "-k", help="Show what these keywords together are expected to bring.")
    ] = None,
    words: Annotated[int, typer.Option("--words", min=1, help="How many words of each topic.")] = 10,
    output: OutputFormat = Format.table,
) -> None:
    """Show the topics of a model, on average over its candidates or under a set of keywords."""
    check_files(model)
    with starting(quiet=output is Format.json):
        from klda.model.klda import KLDA

        estimator = KLDA.load(model)
    chosen = None if keywords is None else parse_keywords(keywords)
    found = estimator.topics(words, chosen)
    if output is Format.json:
        print_json(
            {
                "keywords": None if chosen is None else list(chosen.texts),
                "topics": [[{"word": w, "probability": p} for w, p in topic] for topic in found],
            }
        )
        return
    title = "Topics" if chosen is None else f"What {', '.join(chosen.texts)} would bring"
    print_table(title, ("topic", "words"), [(i + 1, ", ".join(w for w, _ in topic)) for i, topic in enumerate(found)])
