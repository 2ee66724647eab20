"""`klda simulate`: writes posts of a simulated platform with known truth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from klda.cli.options import OutputFormat, Seed
from klda.cli.output import Format, print_json, print_table, progress_bar


def simulate(
    out: Annotated[Path, typer.Argument(help="File to write: .parquet, .jsonl, .jsonl.gz or .jsonl.zst.")],
    weeks: Annotated[int, typer.Option(min=1, help="How many weeks.")] = 11,
    posts_per_week: Annotated[int, typer.Option(min=1, help="How many posts a week.")] = 20_000,
    seed: Seed = 0,
    output: OutputFormat = Format.table,
) -> None:
    """Write posts of a simulated world, with subjects that drift and one that emerges half-way."""
    from klda.simulation import World, write

    world = World(weeks=weeks, posts_per_week=posts_per_week, seed=seed)
    with progress_bar(quiet=output is Format.json) as progress:
        write(world, out, progress)
    n_posts = weeks * posts_per_week
    breaking = world.emerging
    if output is Format.json:
        subjects = [{"name": s.name, "keywords": list(s.keywords)} for s in world.subjects]
        print_json({"file": str(out), "posts": n_posts, "subjects": subjects, "emerging": asdict(breaking)})
        return
    rows = [(subject.name, ", ".join(subject.keywords)) for subject in world.subjects]
    print_table(f"{n_posts:,} posts in {out}", ("subject", "first keywords"), rows)
    gains = f"From week {breaking.week + 1} on, {breaking.subject} gains {', '.join(breaking.words[:6])}, …"
    typer.echo(fill(gains, 80))
