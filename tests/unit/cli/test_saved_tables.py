"""What commands print and write as tables: ids in one piece, and files that spreadsheets open."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from klda import read_posts
from klda.cli import output
from klda.cli.app import app
from klda.monitor.collect import collect
from klda.monitor.create import create
from klda.monitor.monitor import opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.propose import propose
from klda.simulation import World, write


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("posts") / "posts.parquet"
    write(World(weeks=3, posts_per_week=300), path)
    return path


@pytest.fixture(scope="module")
def home(posts: Path) -> Path:
    folder = posts.parent / "home"
    values: dict[str, Any] = {"subject": "health", "keywords": ["health", "hospital"], "policy": "counting"}
    create(folder, "health", MonitorSettings.of(values | {"source": f"replay:{posts}"}), created_by="ann")
    with opened(folder, "health") as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        propose(monitor)
    return folder


def told(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None, result.output
    return result.output


def test_ids_are_not_broken_where_the_screen_is_narrow(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "out", Console(width=60))
    for module in ("history", "show", "propose"):
        monkeypatch.setattr(f"klda.cli.monitor.{module}.out", Console(width=60), raising=False)
    (proposal,) = json.loads(told("monitor", "history", "health", "--home", str(home), "--format", "json"))["proposals"]
    assert f" {proposal['id']} " in told("monitor", "history", "health", "--home", str(home))
    assert f" {proposal['id']} " in told("monitor", "list", "--home", str(home))
    shown = told("monitor", "show", "health", "--home", str(home))
    assert f"klda monitor approve health {proposal['id']}\n" in shown


def test_posts_of_a_monitor_are_exported_for_spreadsheets(home: Path, tmp_path: Path) -> None:
    table, lines = tmp_path / "posts.csv", tmp_path / "posts.jsonl"
    for path in (table, lines):
        told("monitor", "export", "health", str(path), "--home", str(home))
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"id", "time", "text", "keywords", "window"} <= set(rows[0])
    assert not any(row["text"].startswith(("=", "@", "+", "-")) for row in rows), "nothing is run as a formula"
    exported = list(read_posts(lines))
    assert [(p.id, p.time, p.likes, p.hashtags) for p in read_posts(table)] == [
        (p.id, p.time, p.likes, p.hashtags) for p in exported
    ]
    assert len(rows) == len(exported)


def test_a_proposal_is_saved_as_a_table_or_as_json_by_its_name(posts: Path, tmp_path: Path) -> None:
    options = ["recommend", str(posts), "-k", "health,hospital", "--policy", "counting", "--budget", "4"]
    for name in ("next.csv", "next.json"):
        told(*options, "--save", str(tmp_path / name))
    with (tmp_path / "next.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    saved = json.loads((tmp_path / "next.json").read_text())
    kept = {row["keyword"] for row in rows if row["action"] in ("keep", "add")}
    assert kept == {keyword["text"] for keyword in saved["next"]}
    printed = list(csv.DictReader(told(*options, "--format", "csv").splitlines()))
    assert [row["keyword"] for row in printed] == [row["keyword"] for row in rows]
