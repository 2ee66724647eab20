from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from klda.cells import estimate_text
from klda.cli.archives import list_sizes, open_replay, policy_names, windows_to_test
from klda.cli.inputs import Reading
from klda.cli.output import print_table
from klda.cli.study import study
from klda.errors import SettingError
from klda.evaluation import studies
from klda.evaluation.archive import Archive
from klda.evaluation.studies import PAPER_POLICIES
from klda.evaluation.subjects import Subject
from klda.simulation import World
from klda.simulation.world import write
from klda.text.corpus import Corpus
from klda.types import KeywordSet, silent

app = typer.Typer()
app.command()(study)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    world = World(weeks=5, posts_per_week=150, seed=1)
    write(world, folder / "world.parquet")
    subjects = [{"name": s.name, "keywords": list(s.keywords), "split": "tune"} for s in world.subjects[:2]]
    (folder / "subjects.json").write_text(json.dumps({"subjects": subjects}))
    return folder


def run(files, *options):
    arguments = [str(files / "world.parquet"), "--subjects", str(files / "subjects.json"), "--split", "tune"]
    arguments += ["--weeks", "3", "--test-weeks", "2", "--history", "static", "--workers", "1"]
    return CliRunner().invoke(app, [*arguments, "--work", str(files / "work"), *options])


def test_an_archive_is_read_again_when_a_file_in_its_folder_has_changed(tmp_path):
    posts, subjects = tmp_path / "posts", [Subject("health", KeywordSet.of("hospital"))]
    for seed in (1, 2):
        write(World(weeks=2, posts_per_week=40 * seed, seed=seed), posts / "world.jsonl")
        opened = open_replay(
            [posts], subjects, Reading({}), "7d", work=tmp_path / "work", training=None, progress=silent
        )
        assert len(opened.archive.documents) == 80 * seed


@pytest.fixture
def overlaps(monkeypatch):
    """Finds half of the words in common, without asking anything."""

    def found(job):
        shares = {name: {"2": 0.5, "3": 0.5} for name in ("hellinger", "chance")}
        return studies.identity(job.task) | {"overlap": {"counting": shares}}

    monkeypatch.setattr(studies, "study_case", found)


def test_the_study_is_printed_as_json(files, overlaps):
    result = run(files, "--study", "divergence", "--format", "json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["study"] == "divergence"
    assert [case["subject"] for case in answer["cases"]] == ["health", "racing"] * 2
    (table,) = answer["tables"]
    assert table["columns"] == ["divergence", "top 2", "top 3"]
    assert table["rows"][0] == ["hellinger", *[{"mean": 0.5, "low": 0.5, "high": 0.5}] * 2]


def test_the_study_is_printed_as_tables(files, overlaps):
    result = run(files, "--study", "divergence")
    assert "Words in common with the lists of KL" in result.stdout
    assert " 0.50–0.50 " in result.stdout


def test_a_preset_and_a_study_exclude_each_other(files):
    result = run(files, "--preset", "paper", "--study", "tables")
    assert isinstance(result.exception, SettingError)
    assert "give one" in str(result.exception)


def test_the_preset_asks_the_papers_policies_with_the_settings_that_are_given(files, monkeypatch):
    asked = []

    def found(job):
        asked.append(job)
        return studies.identity(job.task) | {"error": "not asked in this test"}

    monkeypatch.setattr(studies, "study_case", found)
    result = run(
        files, "--preset", "paper", "--set", "klda-paper.iterations=7", "--set", "klda-paper.word_weight=vocabulary"
    )
    assert "not asked in this test" in str(result.exception)
    assert {job.study for job in asked} == {"paper"}
    settings = asked[0].task.settings
    assert settings.policies == PAPER_POLICIES
    assert settings.policy_settings == {"klda-paper": {"iterations": 7, "word_weight": "vocabulary"}}


def test_settings_that_no_policy_has_are_refused(files):
    for text, complaint in (
        ("iterations=7", "policy.name=value"),
        ("klda-paper.steps=7", "has no setting 'steps'"),
        ("klda-paper.iterations=many", "takes a number"),
    ):
        result = run(files, "--set", text)
        assert isinstance(result.exception, SettingError)
        assert complaint in str(result.exception)


def test_tables_are_written_as_markdown(files, overlaps, tmp_path):
    result = run(files, "--study", "divergence", "--save", str(tmp_path / "tables.md"))
    assert result.exit_code == 0, result.output
    assert "| hellinger | 0.50 (0.50–0.50) |" in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_an_unknown_study_is_refused(files):
    assert run(files, "--study", "perplexities").exit_code == 2


def test_policies_and_sizes_are_checked():
    assert policy_names("all")[0] == "klda"
    assert "klda-paper" not in policy_names("all")
    with pytest.raises(SettingError, match="no policy nonsense"):
        policy_names("nonsense")
    with pytest.raises(SettingError, match="no policy labels-last-week"):
        policy_names("labels-last-week")
    assert policy_names("labels-last-week", labels=True) == ("labels-last-week",)
    with pytest.raises(SettingError, match="--top"):
        list_sizes("2,none")


def test_test_weeks_are_a_number_or_dates():
    archive = Archive(Corpus.from_posts(World(weeks=4, posts_per_week=50, seed=1), KeywordSet.of("hospital")))
    assert windows_to_test("2", archive) == [2, 3]
    day = archive.corpus.windows[1].start.date().isoformat()
    assert windows_to_test(day, archive) == [1]
    assert windows_to_test(f"{day},{day}", archive) == [1], "a week named twice is one case"
    for text, complaint in (("9", "has 4 windows"), ("soon", "dates like"), ("1999-01-01", "no window with that day")):
        with pytest.raises(SettingError, match=complaint):
            windows_to_test(text, archive)


def test_a_day_that_is_cut_into_windows_names_all_of_them():
    world = World(weeks=1, posts_per_week=300, seed=1)
    archive = Archive(Corpus.from_posts(world, KeywordSet.of("hospital"), window="6h", workers=1))
    day = archive.corpus.windows[8].start.date()
    assert [archive.corpus.windows[w].start.hour for w in windows_to_test(day.isoformat(), archive)] == [0, 6, 12, 18]


def test_a_text_in_a_table_gives_the_terminal_no_orders(capsys):
    print_table("posts", ("text",), [("\x1b]0;title\x07 [red]storm[/red]",)])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[red]storm[/red]" in shown


def test_an_interval_below_nought_reads_as_one():
    assert estimate_text({"mean": -6.5, "low": -7.0, "high": -6.0}) == "-6.50 (-7.00 to -6.00)"
    assert estimate_text({"mean": 300.0, "low": None, "high": None}) == "300"
