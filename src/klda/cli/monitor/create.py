"""`klda monitor create`: makes a monitor, from a settings file or from options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from klda.cli.arguments import check_files, parse_keywords
from klda.cli.options import HOME, By, DateFormat, Home, Name, OutputFormat, Timezone, identity
from klda.cli.output import Format, out, print_json
from klda.errors import SettingError


def create(
    name: Name,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", "-s", help="A klda.toml to start from; options on the command line win."),
    ] = None,
    subject: Annotated[str | None, typer.Option(help="The subject in words, such as 'voting by mail'.")] = None,
    keywords: Annotated[str | None, typer.Option("--keywords", "-k", help="First keywords, or @file.")] = None,
    source: Annotated[
        str | None, typer.Option(help="kind or kind:address, as in jetstream, replay:posts.parquet, kafka:host:9092.")
    ] = None,
    timezone: Timezone = None,
    date_format: DateFormat = None,
    window: Annotated[str | None, typer.Option(help="Length of a window: 7d, 1d, 6h.")] = None,
    policy: Annotated[str | None, typer.Option(help="Policy that proposes; see klda policies.")] = None,
    approval: Annotated[str | None, typer.Option(help="manual, or auto for all that is not flagged.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Most keywords of a list.")] = None,
    max_posts: Annotated[int | None, typer.Option(min=1, help="Most posts that a list may bring in a window.")] = None,
    novelty: Annotated[
        float | None, typer.Option(min=0, max=1, help="0: close relatives of the list. 1: rising and new words.")
    ] = None,
    sample: Annotated[float | None, typer.Option(min=0, max=1, help="Share of all posts kept unfiltered.")] = None,
    by: By = None,
    home: Home = HOME,
    output: OutputFormat = Format.table,
) -> None:
    """Make a monitor; its folder holds klda.toml, which can be edited later."""
    kind, _, address = (source or "").partition(":")
    check_files(settings, Path(address) if kind == "replay" and address else None)
    from klda.monitor.create import create as make
    from klda.monitor.monitor_settings import MonitorSettings, source_with

    values: dict[str, Any] = {}
    if settings is not None:
        values = MonitorSettings.load(settings).model_dump(exclude_unset=True)
    given = {
        "subject": subject,
        "keywords": None if keywords is None else list(parse_keywords(keywords).texts),
        "source": source,
        "window": window,
        "policy": policy,
        "approval": approval,
        "novelty": novelty,
        "sample": sample,
    }
    values |= {key: value for key, value in given.items() if value is not None}
    reading = {"timezone": timezone, "date_format": date_format}
    if "source" in values:
        values["source"] = source_with(values["source"], **{key: value for key, value in reading.items() if value})
    limits = {"max_keywords": budget, "max_posts": max_posts}
    values["budget"] = values.get("budget", {}) | {key: value for key, value in limits.items() if value is not None}
    if "keywords" not in values or "source" not in values:
        raise SettingError("a monitor needs --keywords and --source, or --settings with a klda.toml that has both")
    values.setdefault("subject", values["keywords"][0])
    folder = make(home, name, MonitorSettings.of(values, "klda monitor create"), created_by=identity(by))
    if output is Format.json:
        print_json({"name": name, "folder": str(folder.path), "settings": str(folder.settings)})
        return
    out.print(
        f"Monitor {name} is in {folder.path}; start it with: klda monitor run {name}", markup=False, soft_wrap=True
    )
