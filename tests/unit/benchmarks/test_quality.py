from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import quality
from benchmarks.quality import _archives
from benchmarks.quality_figures import closed_figures, labelled_figures, open_figures, shock_recall
from benchmarks.quality_page import BEGIN, END, rewrite, tables
from klda.errors import SettingError
from klda.evaluation.asking import policy_of
from klda.evaluation.subjects import Subject
from klda.simulation import World, write
from klda.types import KeywordSet


def _weeks(recalls: list[float], posts: list[float]) -> dict[str, list[dict[str, float]]]:
    return {"weeks": [{"recall": recall, "relevant": n} for recall, n in zip(recalls, posts, strict=True)]}


def test_recall_in_shocks_is_that_of_weeks_with_twice_the_usual_posts() -> None:
    posts = [100.0, 100.0, 100.0, 400.0, 300.0]
    found = {"static": _weeks([0.5, 0.5, 0.5, 0.2, 0.2], posts), "klda": _weeks([0.1, 0.1, 0.1, 0.3, 0.5], posts)}
    assert shock_recall({"subjects": {"surveillance": found}}) == pytest.approx(0.4 / 0.2)


def test_the_page_of_measurements_is_rewritten_between_its_marks_only(tmp_path: Path) -> None:
    before = quality.PAGE.read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(before, encoding="utf-8")
    rewrite(page, {"mine": {"skill": 0.5}})
    after = page.read_text(encoding="utf-8")
    assert "### `mine`" in after
    assert after.partition(BEGIN)[0] == before.partition(BEGIN)[0]
    assert after.partition(END)[1:] == before.partition(END)[1:]


def test_every_archive_with_subjects_is_run_those_without_labels_first(tmp_path: Path) -> None:
    def write(name: str, *subjects: dict[str, Any]) -> None:
        (tmp_path / f"{name}.parquet").touch()
        (tmp_path / f"subjects_{name}.json").write_text(json.dumps({"subjects": subjects}), encoding="utf-8")

    write("a", {"name": "x", "keywords": ["x"], "labels": ["l"]})
    write("b", {"name": "y", "keywords": ["y"], "split": "score"}, {"name": "z", "keywords": ["z"], "split": "tune"})
    (tmp_path / "alone.parquet").touch()
    given = argparse.Namespace(data=tmp_path, only=None, split=None)
    found = [(path.stem, [subject.name for subject in subjects]) for path, subjects in _archives(given)]
    assert found == [("b", ["y"]), ("a", ["x"])]
    given.only = "a"
    assert [path.stem for path, _ in _archives(given)] == ["a"]


def test_a_split_that_no_subject_has_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    subjects = [{"name": "x", "keywords": ["x"], "split": "score"}]
    (tmp_path / "subjects_a.json").write_text(json.dumps({"subjects": subjects}), encoding="utf-8")
    with pytest.raises(SettingError, match="no subject of split 'scroe'"):
        _archives(argparse.Namespace(data=tmp_path, only=None, split="scroe"))


def test_a_shock_that_the_first_list_misses_is_one() -> None:
    posts = [100.0, 100.0, 100.0, 400.0, 400.0]
    found = {"static": _weeks([0.5, 0.5, 0.5, 0.0, 0.2], posts), "klda": _weeks([0.5, 0.5, 0.5, 0.3, 0.3], posts)}
    assert shock_recall({"subjects": {"surveillance": found}}) == pytest.approx(3.0)


def test_advice_is_held_against_that_of_viral_on_the_cases_that_both_answered() -> None:
    def answer(accuracy: float) -> dict[str, Any]:
        scores = {"accuracy": accuracy, "coverage": accuracy}
        return {"scores": {f"{reading}/{top}": scores for reading in ("raw", "corrected") for top in (2, 3)}}

    cases = [
        {"counts": True, "answers": {"klda": answer(0.2), "viral": {"error": "nothing to learn from", "scores": {}}}},
        {"counts": True, "answers": {"klda": answer(0.8), "viral": answer(0.4)}},
        {"counts": False, "answers": {"klda": answer(0.0), "viral": answer(1.0)}},
    ]
    figures = open_figures({"policies": {}, "corrected": {"policies": {}}, "cases": cases}, "raw")
    assert (figures["accuracy_vs_viral"], figures["coverage_vs_viral"], figures["skill"]) == (2.0, 2.0, None)


def test_without_a_shock_there_is_no_such_figure() -> None:
    posts = [100.0, 110.0, 90.0]
    calm = {"static": _weeks([0.5, 0.5, 0.5], posts), "klda": _weeks([0.6, 0.6, 0.6], posts)}
    assert shock_recall({"subjects": {"guns": calm, "not run": {}}}) is None


def test_weeks_without_a_post_on_the_subject_are_no_shocks() -> None:
    silent: Any = {"recall": None, "relevant": 0}
    found = {}
    for name, recall in (("static", 0.2), ("klda", 0.5)):
        found[name] = {"weeks": [silent, *_weeks([recall], [100.0])["weeks"], silent]}
    assert shock_recall({"subjects": {"quake": found}}) == pytest.approx(2.5)


def test_without_a_post_on_any_subject_the_closed_loop_has_no_figures() -> None:
    nothing = {"f1": {"mean": None, "low": None, "high": None}}
    summary = {"policies": dict.fromkeys(("klda", "static", "labels-next-week"), nothing), "subjects": {}}
    assert set(closed_figures(summary).values()) == {None}


def test_the_way_is_told_to_either_list_that_knows_next_weeks_labels() -> None:
    means = {"klda": 0.25, "static": 0.2, "labels-next-week": 0.4, "labels-next-week-singly": 0.3}
    summary = {"policies": {name: {"f1": {"mean": f1}} for name, f1 in means.items()}, "subjects": {}}
    figures = closed_figures(summary)
    assert (figures["closed_loop_gap"], figures["closed_loop_gap_singly"]) == (0.25, 0.5)
    means["labels-next-week-singly"] = 0.1  # where the first list is ahead of it, there is no way to go
    summary = {"policies": {name: {"f1": {"mean": f1}} for name, f1 in means.items()}, "subjects": {}}
    assert closed_figures(summary)["closed_loop_gap_singly"] is None


def test_the_page_names_paired_differences_and_losses() -> None:
    def part(ours: float, theirs: float) -> dict[str, object]:
        def entry(mean: float) -> dict[str, object]:
            value = {"2": {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}}
            return {"accuracy": value, "coverage": value, "skill": value}

        gain = {"2": {"mean": ours - theirs, "low": -0.1, "high": 0.1}}
        return {
            "policies": {"klda": entry(ours), "textrank": entry(theirs)},
            "paired": {"klda": {"textrank": gain}},
            "ceiling": {"2": {"mean": 0.5, "low": 0.4, "high": 0.6}},
            "n_comparisons": 2,
            "n_cases": 4,
        }

    whole = {"skill": 0.7, "open_loop": part(0.5, 0.3) | {"corrected": part(0.5, 0.3)}}
    page = tables(
        {"posts": {"skill": 0.5, "open_loop": part(0.2, 0.3) | {"corrected": part(0.4, 0.3)}, "list_only": whole}}
    )
    assert "| `textrank` | -0.10 (-0.10 to 0.10) | 0.10 (-0.10 to 0.10) |" in page
    assert "- `textrank` is ahead of `klda` in accuracy, raw truth, top 2." in page
    assert "corrected truth, top 2." not in page
    assert "history `static`):\n\n- `skill`: 0.7" in page
    assert "- none in accuracy." in page


def test_lists_own_their_filter_without_and_with_a_sample(tmp_path: Path) -> None:
    archive = write(World(weeks=4, posts_per_week=200, seed=1), tmp_path / "posts.parquet")
    subjects = [Subject("health", KeywordSet.of("hospital", "doctor"), frozenset({"health"}))]
    given = argparse.Namespace(quick=False, policies="static,random", work=tmp_path / "work", language="en", weeks="1")
    parts = quality.with_labels(archive, subjects, given, map)
    found = parts["closed"]() | parts["sample"]()
    assert found["closed_loop"]["policies"].keys() == {"static", "random"}
    assert found["with_sample"]["closed_loop"]["policies"].keys() == {"static", "random"}
    assert len(list((tmp_path / "work").glob("*/closed-*"))) == 2, "other settings are other results"
    page = tables({"posts": found})
    assert page.index("Closed loop:") < page.index("Closed loop, with a sample:")


@pytest.mark.parametrize("name", [*quality.VARIANTS, *quality.UNTOLD])
def test_what_is_turned_off_is_a_setting_that_the_default_has(name: str) -> None:
    off = {**quality.VARIANTS, **quality.UNTOLD}[name]
    asked = policy_of(name, Subject("health", KeywordSet.of("hospital")), off)
    assert {setting: getattr(asked, setting) for setting in off} == off


def test_next_lists_are_judged_of_every_subject_of_the_file_with_and_without_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(weeks=4, posts_per_week=200, seed=1)
    write(world, tmp_path / "posts.parquet")
    subjects = [
        {"name": name, "keywords": list(world.best_keywords(name, 3, 3)), "labels": [name], "split": split}
        for name, split in (("health", "tune"), ("racing", "score"))
    ]
    (tmp_path / "subjects_posts.json").write_text(json.dumps({"subjects": subjects}), encoding="utf-8")
    monkeypatch.setattr(quality, "policy_names", lambda *_, **__: ("klda", "frequent", "static"))
    arguments = ["--parts", "labelled", "--weeks", "1", "--data", str(tmp_path), "--work", str(tmp_path / "work")]
    monkeypatch.setattr("sys.argv", ["quality", *arguments, "--jobs", "1"])
    quality.main()
    found = json.loads(capsys.readouterr().out)["archives"]["posts"]
    assert set(found["labelled"]["subjects"]) == {"health", "racing"}
    assert found.keys() >= {"next_list_ratio", "next_list_ratio_without_vectors", "next_list_lead"}
    page = tables({"posts": found})
    assert "| `klda~without vectors` |" in page
    assert "- `next_list_ratio`: " in page


def test_the_lead_is_held_against_the_nearest_baseline() -> None:
    entry = {"f1": {"mean": 0.3}, "ratio": {"mean": 1.3}, "subject_ratio": 1.2, "least_ratio": 0.96}
    ahead = {"counting": {"low": 0.1}, "tfidf": {"low": 0.02}, "labels-next-week": {"low": -0.3}}
    ahead["klda~without vectors"] = {"low": -0.1}
    figures = labelled_figures({"policies": {"klda": entry}, "paired": {"klda": ahead}})
    assert figures["next_list_lead"] == 0.02
    assert (figures["next_list_ratio"], figures["next_list_least_ratio"]) == (1.3, 0.96)


def test_a_part_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["quality", "--parts", "labeled"])
    with pytest.raises(SystemExit):
        quality.main()


def test_an_archive_that_cannot_be_replayed_says_why_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, weeks in (("long", 4), ("short", 1)):
        write(World(weeks=weeks, posts_per_week=200, seed=1), tmp_path / f"{name}.parquet")
        subjects = [{"name": "health", "keywords": ["hospital", "doctor"]}]
        (tmp_path / f"subjects_{name}.json").write_text(json.dumps({"subjects": subjects}), encoding="utf-8")
    monkeypatch.setattr(quality, "QUICK_POLICIES", "counting,random")
    arguments = ["quality", "--quick", "--data", str(tmp_path), "--work", str(tmp_path / "work"), "--jobs", "1"]
    monkeypatch.setattr("sys.argv", arguments)
    quality.main()
    printed = capsys.readouterr()
    found = json.loads(printed.out)["archives"]
    assert found["short"]["error"].startswith("all posts are of one window, and it takes two")
    assert "short: all posts are of one window" in printed.err
    assert found["long"]["open_loop"]["n_cases"] + found["long"]["open_loop"]["n_left_out"] == 1


def test_subjects_without_labels_are_in_the_open_loop_beside_those_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def named(replay: object, subjects: list[Subject], *_: object, **__: object) -> dict[str, Any]:
        return {"of": [subject.name for subject in subjects]}

    monkeypatch.setattr(quality, "_open", named)
    monkeypatch.setattr(quality, "_closed", named)
    monkeypatch.setattr(quality, "_next_lists", named)
    archive = write(World(weeks=3, posts_per_week=100, seed=1), tmp_path / "posts.parquet")
    subjects = [
        Subject("health", KeywordSet.of("hospital", "doctor"), frozenset({"health"})),
        Subject("racing", KeywordSet.of("horse", "race")),
        Subject("misspelt", KeywordSet.of("climate"), frozenset({"climt"})),
    ]
    given = argparse.Namespace(quick=False, policies=None, work=tmp_path / "work", language="en", weeks="1")
    found = {name: part() for name, part in quality.with_labels(archive, subjects, given, map).items()}
    assert found["closed"]["of"] == found["sample"]["with_sample"]["of"] == found["labelled"]["of"] == ["health"]
    assert found["open"]["of"] == found["list"]["list_only"]["of"] == ["health", "racing", "misspelt"]
    assert "posts: no post has a label of misspelt" in capsys.readouterr().err
