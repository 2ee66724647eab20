"""`klda simulate`: a firehose with known truth, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from klda.cli.options import OutputFormat, Seed
from klda.cli.output import Format, print_json, print_table
from klda.cli.progress import progress_bar


def simulate(
    out: Annotated[Path, typer.Argument(help="File to write: .parquet, .jsonl, .jsonl.gz or .jsonl.zst.")],
    weeks: Annotated[int, typer.Option(min=1, help="How many weeks.")] = 11,
    posts_per_week: Annotated[int, typer.Option(min=1, help="How many posts a week.")] = 20_000,
    seed: Seed = 0,
    format: OutputFormat = Format.table,
) -> None:
    """Write posts of a simulated world, with subjects that drift and one that emerges half-way."""
    from klda.corpus.simulation import World, write

    world = World(weeks=weeks, posts_per_week=posts_per_week, seed=seed)
    with progress_bar(quiet=format is Format.json) as progress:
        write(world, out, progress)
    subjects = [{"name": s.name, "keywords": list(s.keywords)} for s in world.subjects]
    emerging = {"subject": world.emerging.subject, "week": world.emerging.week, "words": list(world.emerging.words)}
    if format is Format.json:
        print_json({"file": str(out), "posts": weeks * posts_per_week, "subjects": subjects, "emerging": emerging})
        return
    rows = [(s["name"], ", ".join(s["keywords"])) for s in subjects]
    print_table(f"{weeks * posts_per_week:,} posts in {out}", ("subject", "first keywords"), rows)
    typer.echo(f"In week {emerging['week'] + 1} {emerging['subject']} gains: {', '.join(emerging['words'][:8])}")
