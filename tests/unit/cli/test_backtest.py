"""The tables of `klda backtest`, as a terminal of 80 columns shows them."""

from __future__ import annotations

from typing import Any

import pytest

from klda.cli.backtest import _print_closed, _print_open

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
    _print_open(part | {"corrected": part, "n_cases": 1, "n_left_out": 2, "unanswered": {}, "n_comparisons": 0}, (2, 3))
    told = capsys.readouterr().out
    for title in ("1 case, top 2, raw truth", "1 case, top 3, raw truth", "1 case, top 2, corrected truth"):
        assert title in told
    assert told.count(f" {LONG} ") == 4
    assert told.count(" -0.20 to 0.40 ") == 2 * 3
