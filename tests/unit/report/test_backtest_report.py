"""The page of a backtest: whole, self-contained, and deaf to whatever names and errors say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from klda.evaluation.backtest_summary import closed_summary, open_summary
from klda.report.backtest_report import render_backtest, write_backtest
from klda.report.charts.policy_skill import Point, curves, short_labels
from tests.unit.report.backtest_sample import POLICIES, SUBJECTS, WEEKS, closed_sample, open_cases, open_sample
from tests.unit.report.hostile import ATTACKS
from tests.unit.report.test_proposal_report import Page

SAMPLES: dict[str, Callable[[], dict[str, Any]]] = {"open": open_sample, "closed": closed_sample}


@cache
def sample_page(name: str) -> Page:
    return Page(render_backtest(SAMPLES[name](), title="Backtest"))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_verdict_stands_at_the_top(name: str) -> None:
    summary = SAMPLES[name]()
    page = unescape(render_backtest(summary, title="Backtest"))
    assert "klda" in summary["verdict"]
    assert page.index(summary["verdict"]) < page.index("<table")


def tampered(summary: dict[str, Any], attacks: Sequence[str]) -> dict[str, Any]:
    """The same summary with an attack behind each free text: names of subjects and policies, words, errors, windows."""
    chosen: dict[str, str] = {}
    fixed = {*_fixed_keys(summary), "static", "random"}

    def text(value: str) -> str:
        return value if value in fixed else chosen.setdefault(value, value + attacks[len(chosen) % len(attacks)])

    def walk(node: Any) -> Any:
        if isinstance(node, dict):
            return {text(key): walk(value) for key, value in node.items()}
        if isinstance(node, list):
            return [walk(value) for value in node]
        return text(node) if isinstance(node, str) else node

    result: dict[str, Any] = walk(summary)
    return result


def _fixed_keys(node: Any) -> set[str]:
    """Names that the summary's own format has, as opposed to what users call things."""
    named = {*POLICIES, *SUBJECTS, "space", "labels-next-week"}
    if isinstance(node, dict):
        own = {key for key in node if key not in named and not re.search("health|climate|immigration", key)}
        return own.union(*map(_fixed_keys, node.values()))
    return set().union(*map(_fixed_keys, node)) if isinstance(node, list) else set()


def test_an_open_loop_shows_every_policy_its_ceiling_and_its_cases() -> None:
    page = sample_page("open")
    for text in (*POLICIES, *SUBJECTS, "ceiling", "raw truth", "corrected truth", "6 April 2020", "health word 2"):
        assert text in page.text
    assert "no post of the 10 windows" in page.text
    assert "nothing is known about reposts" in page.text
    assert {name.removeprefix("spec-") for name in page.specs} == {"skill-2", "skill-3", "weeks-2", "weeks-3"}


def test_the_number_of_comparisons_is_stated() -> None:
    n = open_sample()["n_comparisons"]
    assert f"of {n} comparisons" in sample_page("open").text


def test_intervals_stand_beside_means() -> None:
    accuracy = open_sample()["policies"]["klda"]["accuracy"]["3"]
    assert f"{accuracy['mean']:.2f} {accuracy['low']:.2f}–{accuracy['high']:.2f}" in sample_page("open").text


def test_a_closed_loop_shows_curves_and_last_lists_of_every_subject() -> None:
    page = sample_page("closed")
    measures = ("f1", "recall", "volume", "drift")
    assert set(page.specs) == {f"spec-subject-{i}-{m}" for i in range(len(SUBJECTS)) for m in measures}
    for subject in SUBJECTS:
        assert f"{subject} klda 3" in page.text


def test_without_labels_other_measures_are_shown() -> None:
    page = Page(render_backtest(closed_sample(labelled=False), title="Backtest"))
    assert "spec-subject-0-retention" in page.specs
    assert not any("f1" in name for name in page.specs)
    assert "F1" not in page.text


@pytest.mark.parametrize("name", SAMPLES)
def test_no_text_becomes_an_element_an_attribute_or_a_script(name: str) -> None:
    benign = sample_page(name)
    page = Page(render_backtest(tampered(SAMPLES[name](), ATTACKS), title=f"Backtest {ATTACKS[0]}"))
    assert page.elements <= benign.elements
    assert page.running == benign.running
    assert page.styles == benign.styles
    assert page.specs.keys() == benign.specs.keys()
    for attack in ATTACKS[:5]:
        assert attack in page.text


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_loads_nothing_and_links_nowhere(name: str) -> None:
    page = sample_page(name)
    loading = {"src", "href", "xlink:href", "srcset", "action", "formaction", "data", "poster", "background", "style"}
    assert not [pair for pair in page.attributes if pair[0] in loading or pair[0].startswith("on")]
    policy = next(value for _, value in page.attributes if "default-src" in value)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", SAMPLES)
def test_charts_say_what_they_show(name: str) -> None:
    assert all(spec["description"] for spec in sample_page(name).specs.values())
    assert "NaN" not in json.dumps(list(sample_page(name).specs.values()))


def test_a_backtest_in_which_no_case_counts_still_makes_a_page() -> None:
    cases = [case | {"counts": False} for case in open_cases()]
    page = Page(render_backtest(open_summary(cases, POLICIES, (2, 3)), title="Backtest"))
    assert "0 cases" in page.text
    assert page.specs == {}


def test_one_policy_without_comparison_makes_a_page() -> None:
    cases = [case | {"answers": {n: a for n, a in case["answers"].items() if n != "random"}} for case in open_cases()]
    alone = Page(render_backtest(open_summary(cases, ("counting",), (3,)), title="Backtest"))
    assert "spec-weeks-3" in alone.specs
    assert "spec-skill-3" not in alone.specs, "without chance there is no skill"
    weeks = [{"window": WEEKS[0], "keywords": ["a"], "volume": 1} | dict.fromkeys(_MEASURES)] * 2
    results = [{"subject": "health", "policy": "counting", "cap": 1, "weeks": weeks}]
    assert "counting" in Page(render_backtest(closed_summary(results, ("counting",)), title="Backtest")).text


_MEASURES = ("relevant", "recall", "precision", "f1", "retention", "novelty", "drift")


def test_the_file_is_written(tmp_path: Path) -> None:
    write_backtest(open_sample(), tmp_path / "backtest.html", title="Backtest")
    assert (tmp_path / "backtest.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_policies_without_a_colour_of_their_own_are_grey() -> None:
    spec = curves([Point("2020-04-06", name, 0.1) for name in ("a", "b", "c")], ["c"], measure="accuracy")
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["c"] not in (scale["range"][0], scale["range"][1])
    assert scale["range"][0] == scale["range"][1]


def test_windows_that_are_no_times_are_their_own_labels() -> None:
    assert short_labels(["later", "2020-04-06"]) == {"later": "later", "2020-04-06": "2020-04-06"}
