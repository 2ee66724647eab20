"""`klda.backtest`: policies compared in one call, as the command compares them."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klda.cli.app import app
from klda.errors import SettingError
from klda.evaluation.comparison import Backtest, backtest
from klda.evaluation.subjects import Subject
from klda.simulation import World, write
from klda.text.corpus import Corpus
from klda.types import KeywordSet
from tests.unit.test_notebook_views import checked

WORLD = World(weeks=5, posts_per_week=700, seed=2)
HEALTH = Subject("health", KeywordSet.of("health", "hospital", "doctor"), frozenset({"health"}))
NAMES = ["frequent", "static"]


@pytest.fixture(scope="module")
def closed() -> Backtest:
    return backtest(WORLD, [HEALTH], policies=NAMES, loop="closed")


@pytest.mark.parametrize("loop", ["open", "labelled", "closed"])
def test_it_finds_what_the_command_finds(loop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    posts, subjects = write(WORLD, tmp_path / "posts.parquet"), tmp_path / "subjects.json"
    plain = {"name": "health", "keywords": list(HEALTH.keywords.texts), "labels": ["health"]}
    subjects.write_text(json.dumps({"subjects": [plain]}))
    given = ["backtest", str(posts), "--subjects", str(subjects), "--policies", ",".join(NAMES)]
    given += ["--format", "json", "--workers", "1"]
    if loop == "closed":
        told = CliRunner().invoke(app, [*given, "--closed-loop"])
    else:
        judged = ["--labelled"] if loop == "labelled" else []
        told = CliRunner().invoke(app, [*given, *judged, "--weeks", "3", "--test-weeks", "1"])
    assert told.exit_code == 0, told.output
    found = backtest(posts, subjects, policies=NAMES, loop=loop, weeks=3, test_weeks=1)
    assert timeless(found.summary) == timeless(json.loads(told.stdout))
    assert found.verdict == found.summary["verdict"]


def timeless(node: object) -> object:
    """Plain data without the seconds that an answer took."""
    if isinstance(node, dict):
        return {key: timeless(value) for key, value in node.items() if key != "seconds"}
    return [timeless(value) for value in node] if isinstance(node, list | tuple) else node


def test_it_says_its_verdict_and_shows_its_table(closed: Backtest) -> None:
    assert repr(closed).splitlines() == [f"<Backtest in closed loop, 1 case: {', '.join(NAMES)}>", closed.verdict]
    texts = checked(closed._repr_html_())
    assert texts[0] == closed.verdict
    assert "Closed loop, mean over subjects and windows" in texts
    assert texts.count("frequent") == 1


def test_its_frame_has_a_row_for_each_policy_and_measure(closed: Backtest) -> None:
    frame = closed.to_frame()
    assert frame.columns == ["policy", "measure", "mean", "low", "high"]
    assert set(frame["policy"]) == set(NAMES)
    assert frame.equals(type(frame)(closed.to_frame("pandas").to_dict("list")))
    volume = frame.filter((frame["policy"] == "static") & (frame["measure"] == "volume"))["mean"][0]
    assert volume == closed.summary["policies"]["static"]["volume"]["mean"]
    with pytest.raises(SettingError, match="library"):
        closed.to_frame("excel")


def test_posts_may_be_a_corpus_and_subjects_a_mapping() -> None:
    corpus = Corpus.from_posts(WORLD, ["health"])
    days = [corpus.windows[-1].start.date()]
    found = backtest(corpus, {"health": HEALTH.keywords.texts}, policies=["frequent"], weeks=3, test_weeks=days)
    assert found.policies == ("frequent",)
    assert {case["week"] for case in found.summary["cases"]} == {str(corpus.windows[-1])}
    measures = set(found.to_frame()["measure"])
    assert {"accuracy top 2", "skill top 3, corrected"} <= measures
    assert "1 case, top 2, raw truth" in found._repr_html_()


def test_variants_of_a_policy_have_names_of_their_own() -> None:
    own = {"counting~one": {"top": 1}}
    found = backtest(
        WORLD, [HEALTH], policies=["counting~one"], loop="labelled", weeks=3, test_weeks=1, policy_settings=own
    )
    assert found.policies == ("counting~one", "static")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"policies": ["frequnet"]}, "no policy frequnet"),
        ({"policies": "frequent"}, "give a list"),
        ({"policies": []}, "no policy"),
        ({"loop": "round"}, "loop must be one of"),
        ({"history": "full of"}, "history must be one of"),
        ({"test_weeks": 9}, "test_weeks 9: the archive has 5 windows"),
        ({"test_weeks": [date(2020, 1, 1)]}, "test_weeks 2020-01-01"),
        ({"workers": 0}, "workers"),
        ({"weeks": 0}, "weeks"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        backtest(WORLD, [HEALTH], **{"policies": NAMES, "weeks": 3, **wrong})


def test_a_subject_needs_keywords() -> None:
    for nobody in ([], {}, [Subject("health", KeywordSet())], ["health"]):
        with pytest.raises(SettingError, match="at least one subject"):
            backtest(WORLD, nobody)
