"""The tables of `klda backtest`, as a terminal of 80 columns shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from klda.cli.backtest import _print_closed, _print_labelled, _print_open, backtest
from klda.simulation import World, write

JUDGED = ("recall", "precision", "f1", "retention", "novelty", "drift")
LONG = "context-topical-pagerank"


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def estimate(mean: float | None, low: float | None, high: float | None) -> dict[str, float | None]:
    return {"mean": mean, "low": low, "high": high}


def closed(**known: Any) -> dict[str, Any]:
    measures = dict.fromkeys(JUDGED, estimate(0.5, 0.4, 0.6)) | {"volume": estimate(12340.0, 10800.0, 13345.0)} | known
    means = {name: value["mean"] for name, value in measures.items()}
    return {"policies": dict.fromkeys(("klda", LONG), measures), "subjects": {"health": {"klda": means}}}


def test_no_word_and_no_interval_of_a_closed_loop_is_broken(capsys):
    _print_closed(closed())
    told = capsys.readouterr().out
    for whole in ("policy", "recall", "precision", "f1", "volume", "drift", "context-", "topical-", "pagerank"):
        assert f" {whole} " in told
    assert told.count(" 0.40–0.60 ") == 2 * 4
    assert told.count(" 10800–13345 ") == 2
    assert " 12,340 " in told
    assert max(map(len, told.splitlines())) <= 80


def test_a_closed_loop_is_judged_by_labels_where_there_are_some(capsys):
    _print_closed(closed())
    assert not {"retention", "novelty"} & set(capsys.readouterr().out.split())
    _print_closed(closed(**dict.fromkeys(("recall", "precision", "f1"), estimate(None, None, None))))
    words = set(capsys.readouterr().out.split())
    assert {"retention", "novelty", "volume", "drift"} <= words
    assert not {"recall", "precision", "f1"} & words


def test_an_open_loop_has_a_table_for_each_length_of_lists(capsys):
    numbers = {"2": estimate(0.3, -0.2, 0.4), "3": estimate(0.5, 0.4, 0.6)}
    part = {"policies": {LONG: dict.fromkeys(("accuracy", "coverage", "skill"), numbers)}, "ceiling": numbers}
    _print_open(part | {"corrected": part, "n_cases": 1, "n_left_out": 2, "unanswered": {}, "n_comparisons": 0})
    told = capsys.readouterr().out
    for title in ("1 case, top 2, raw truth", "1 case, top 3, raw truth", "1 case, top 2, corrected truth"):
        assert title in told
    assert told.count(f" {LONG} ") == 4
    assert told.count(" -0.20 to 0.40 ") == 2 * 3


def test_a_labelled_backtest_says_how_far_the_next_list_is_ahead_of_the_current_one(capsys):
    number = estimate(1.3, 1.1, 1.5)
    entry = dict.fromkeys(("recall", "precision", "f1", "volume", "ratio"), number)
    entry |= {"subject_ratio": 1.25, "least_ratio": 0.97, "least_subject": "football_soccer"}
    names = ("klda", LONG, "static")
    paired = {name: {other: estimate(0.1, 0.05, 0.15) for other in names if other != name} for name in names}
    summary = {"policies": dict.fromkeys(names, entry), "paired": paired, "n_cases": 80, "n_comparisons": 3}
    _print_labelled(summary | {"unanswered": {}})
    told = capsys.readouterr().out
    for whole in ("80 cases", "F1 ÷ now", " 1.25 ", " 0.97 ", "football_soccer", "F1 of klda less that of others"):
        assert whole in told
    assert max(map(len, told.splitlines())) <= 80


@pytest.fixture
def archive(tmp_path: Path) -> list[str]:
    """The arguments of a backtest on a small archive with labels."""
    world = World(weeks=4, posts_per_week=200, seed=1)
    file = write(world, tmp_path / "posts.parquet")
    subjects = [{"name": "health", "keywords": list(world.best_keywords("health", 3, 2)), "labels": ["health"]}]
    (tmp_path / "subjects.json").write_text(json.dumps({"subjects": subjects}), encoding="utf-8")
    options = ["--subjects", str(tmp_path / "subjects.json"), "--work", str(tmp_path / "work"), "--workers", "1"]
    return [str(file), *options, "--weeks", "2", "--test-weeks", "1"]


def invoked(arguments: list[str]) -> Any:
    app = typer.Typer()
    app.command()(backtest)
    return CliRunner().invoke(app, arguments)


def test_a_labelled_backtest_measures_the_current_list_unasked(archive):
    result = invoked([*archive, "--labelled", "--policies", "frequent", "--format", "json"])
    found = json.loads(result.stdout)
    assert set(found["policies"]) == {"frequent", "static"}
    assert found["policies"]["static"]["ratio"]["mean"] == 1.0
    assert len(found["cases"][0]["answers"]["static"]["keywords"]) == 2
    assert found["verdict"].startswith("frequent's next lists had ")
    told = invoked([*archive, "--labelled", "--policies", "frequent"]).output
    assert "The next list by labels, 1 case" in told
    assert " ".join(told.split()).endswith(found["verdict"]), "the last thing said"


@pytest.mark.parametrize(
    ("options", "why"), [(["--closed-loop"], "two kinds of backtest"), (["--report", "x.html"], "no report")]
)
def test_what_does_not_go_with_a_labelled_backtest_is_refused(archive, options, why):
    refused = invoked([*archive, "--labelled", *options])
    assert why in str(refused.exception)
