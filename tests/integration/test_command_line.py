"""The commands end to end, as a user meets them."""

from __future__ import annotations

import csv
import errno
import io
import json
import subprocess
import sys

import pytest

from klda.advice.proposal import read_proposal
from klda.text.shards import load_corpus

HEALTH = "health,hospital,doctor,medicine"


@pytest.fixture(scope="module")
def corpus(posts, tmp_path_factory):
    from typer.testing import CliRunner

    from klda.cli.app import app

    folder = tmp_path_factory.mktemp("corpus") / "health"
    arguments = ["prepare", str(posts), "-k", HEALTH, "--candidates", "nurse,flu,patients", "-o", str(folder)]
    result = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_prepare_accounts_for_every_line(corpus):
    folder, summary = corpus
    lost = summary["posts"] + sum(summary["bad"].values()) + sum(summary["skipped"].values())
    assert summary["lines"] == lost + summary["duplicates"] + summary["reposts_dropped"]
    assert summary["posts"] == summary["documents"] + summary["without_keyword"] == 9000
    loaded = load_corpus(folder)
    assert len(loaded) == summary["documents"]
    assert loaded.documents.n_tokens == summary["tokens"]
    assert loaded.candidates.texts[:3] == ("nurse", "flu", "patients") or "nurse" in loaded.candidates


def test_prepare_within_a_memory_makes_the_same_corpus_in_shards(klda, corpus, posts, tmp_path):
    whole, summary = corpus
    arguments = ("-k", HEALTH, "--candidates", "nurse,flu,patients", "-o", tmp_path / "shards", "--memory", "1GiB")
    result = klda("prepare", posts, *arguments, "--format", "json")
    assert json.loads(result.stdout) | {"corpus": str(whole)} == summary
    assert (tmp_path / "shards" / "shards.json").is_file()
    assert load_corpus(tmp_path / "shards").documents.words.tolist() == load_corpus(whole).documents.words.tolist()
    assert klda("prepare", posts, *arguments[:-1], "much").exit_code == 2


def test_prepare_reports_bad_lines_with_their_place(klda, tmp_path):
    file = tmp_path / "posts.jsonl"
    good = {"id": "1", "text": "the hospital", "created_at": "2026-01-05T00:00:00Z"}
    file.write_text(json.dumps(good) + "\nnot json\n" + json.dumps(good) + "\n\n")
    result = klda("prepare", file, "-k", "hospital", "-o", tmp_path / "corpus", "--min-count", "1", "--format", "json")
    summary = json.loads(result.stdout)
    assert (summary["posts"], summary["duplicates"], sum(summary["skipped"].values())) == (1, 1, 1)
    assert sum(summary["bad"].values()) == 1
    assert summary["bad_examples"][0]["line"] == 2
    assert summary["bad_examples"][0]["file"] == str(file)
    strict = klda("prepare", file, "-k", "hospital", "-o", tmp_path / "strict", "--strict")
    assert strict.exit_code == 2
    assert "line 2" in strict.error
    assert not (tmp_path / "strict").exists()


def test_train_topics_and_recommend_share_one_model(klda, corpus, tmp_path):
    folder, _ = corpus
    model = tmp_path / "model"
    trained = klda("train", folder, "-m", model, "--topics", "3", "--max-iterations", "20", "--format", "json")
    assert json.loads(trained.stdout)["n_topics"] == 3
    shown = klda("topics", model, "-k", "hospital,nurse", "--words", "4", "--format", "json")
    topics = json.loads(shown.stdout)["topics"]
    assert [len(topic) for topic in topics] == [4, 4, 4]
    table = klda("topics", model, "-k", "hospital,nurse", "--words", "4").stdout
    assert "What hospital, nurse would bring" in table
    assert all(entry["word"] in table for topic in topics for entry in topic)
    advice = klda("recommend", "--model", model, "-k", HEALTH, "--format", "json")
    assert advice.exit_code == 0, advice.output
    assert set(json.loads(advice.stdout)["per_keyword"]) == set(HEALTH.split(","))


def test_a_handful_of_posts_trains_no_model_of_nothing_and_is_told_in_json(klda, tmp_path):
    file = tmp_path / "posts.csv"
    file.write_text("id,time,text\n" + "".join(f"{i},2026-01-0{i}T00:00:00Z,a hospital bed\n" for i in range(1, 5)))
    for kind in ([], ["--memory", "1GiB"]):
        klda("prepare", file, "-k", "hospital", "-o", tmp_path / "rare", *kind)
        for engine in ("local", "ray"):
            refused = klda("train", tmp_path / "rare", "-m", tmp_path / "none", "--engine", engine)
            assert refused.exit_code == 3
            assert "rare: no word occurs 10 times; prepare more posts, or lower --min-count" in refused.error
    klda("prepare", file, "-k", "hospital", "-o", tmp_path / "few", "--min-count", "1")
    told = klda("train", tmp_path / "few", "-m", tmp_path / "m", "--max-iterations", "2", "--format", "json").stdout
    assert "NaN" not in told  # which is no JSON
    assert json.loads(told)["held_out_bound"] is None


def test_train_says_what_is_not_there(klda, corpus, tmp_path):
    folder, _ = corpus
    missing = klda("train", tmp_path / "nothere", "-m", tmp_path / "m")
    assert missing.exit_code == 2
    assert "nothere: there is no such folder; give the folder that klda prepare wrote" in missing.error
    started = klda("train", folder, "-m", tmp_path / "m", "--max-iterations", "2", "--resume", "--format", "json")
    assert "has nothing to resume" in started.stderr
    assert json.loads(started.stdout)["documents"] > 0


def test_an_unknown_keyword_of_topics_is_refused(klda, corpus, tmp_path):
    folder, _ = corpus
    klda("train", folder, "-m", tmp_path / "m", "--max-iterations", "5", "--format", "json")
    result = klda("topics", tmp_path / "m", "-k", "zebra")
    assert result.exit_code == 3
    assert "zebra" in result.error


def test_where_candidates_are_looked_for_and_how_many_terms_there_are_can_be_said(klda, posts):
    common = ["recommend", posts, "-k", HEALTH, "--policy", "counting", "--format", "json"]
    few = json.loads(klda(*common, "--sources", "rising,sample", "--sample", posts, "--max-terms", "5").stdout)
    assert len([form for action in ("keep", "add") for word in few[action] for form in word["forms"]]) <= 5
    usual = json.loads(klda(*common).stdout)
    assert {word["text"] for word in few["ranked"]} != {word["text"] for word in usual["ranked"]}
    unknown = klda(*common, "--sources", "stars")
    assert (unknown.exit_code, "no source of candidates stars" in unknown.error) == (2, True)
    assert "--sample" in klda(*common, "--sources", "sample").error


def test_recommend_from_files_to_rules(klda, posts, tmp_path):
    saved, page = tmp_path / "proposal.json", tmp_path / "report.html"
    common = ["recommend", posts, "-k", HEALTH, "--policy", "counting", "--budget", "7"]
    result = klda(*common, "--save", saved, "--report", page, "--format", "csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {row["action"] for row in rows} <= {"keep", "add", "drop", "hold"}
    assert all(float(row["posts_low"]) <= float(row["posts_high"]) for row in rows)
    proposal = read_proposal(saved)
    assert all(f"Note: {note}" in result.stderr for note in proposal.notes)
    assert 1 <= len(proposal.next_keywords) <= 7
    assert "<html" in page.read_text(encoding="utf-8")
    for platform in ("x-v1", "x-v2", "bluesky", "mastodon"):
        rules = klda("rules", saved, "--platform", platform, "--diff", HEALTH)
        assert rules.exit_code == 0, rules.output
        assert set(json.loads(rules.stdout)["terms"]) == {f for k in proposal.next_keywords for f in k.forms}


def test_a_list_that_has_moved_on_is_told_what_was_first_asked_for(klda, posts):
    common = ["recommend", posts, "-k", "hospital", "--format", "json", "--founding"]
    found = json.loads(klda(*common, HEALTH).stdout)
    assert set(HEALTH.split(",")) <= {word["text"] for word in found["ranked"]}
    assert "--founding" in klda(*common, " , ").error


def test_the_same_seed_gives_the_same_advice(klda, posts):
    common = ["recommend", posts, "-k", HEALTH, "--policy", "counting-scored", "--format", "json"]
    assert klda(*common, "--seed", "3").stdout == klda(*common, "--seed", "3").stdout


def test_required_and_forbidden_words_are_respected(klda, posts):
    options = ["--policy", "counting", "--require", "nurse", "--forbid", "doctor", "--format", "json"]
    result = json.loads(klda("recommend", posts, "-k", HEALTH, *options).stdout)
    chosen = [keyword["text"] for keyword in result["next"]]
    assert "nurse" in chosen
    assert "doctor" not in chosen


@pytest.mark.parametrize(
    ("lines", "options", "code", "message"),
    [
        ([], [], 3, "no posts"),
        ([("1", "2026-01-05", "cats and dogs"), ("2", "2026-01-13", "dogs")], [], 3, "no post carries"),
        ([("1", "2026-01-05", "hospital"), ("2", "2026-01-13", "hospital")], [], 3, "same text"),
        ([("1", "2026-01-05", "hospital bed"), ("2", "2199-01-13", "hospital")], [], 3, "future"),
        ([("1", "2026-01-05", "hospital")], ["--policy", "nonsense"], 2, "no policy 'nonsense'"),
        ([("1", "2026-01-05", "hospital")], ["--window", "sometimes"], 2, "sometimes"),
        ([("1", "2026-01-05", "hospital")], ["--candidates", ","], 2, "--candidates"),
    ],
)
def test_bad_input_gets_a_clear_message_and_exit_code(klda, tmp_path, lines, options, code, message):
    file = tmp_path / "posts.jsonl"
    records = [{"id": i, "created_at": f"{day}T00:00:00Z", "text": text} for i, day, text in lines]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    result = klda("recommend", file, "-k", "hospital", *options)
    assert result.exit_code == code
    assert message in result.error


@pytest.mark.parametrize(
    ("option", "name"), [("--report", "no/report.html"), ("--save", "no/list.json"), ("--save", "")]
)
def test_a_result_that_could_not_be_written_is_refused_before_the_work(klda, tmp_path, option, name):
    unread = tmp_path / "none.csv"
    unread.write_text("no posts")  # would be refused too, were it read first
    result = klda("recommend", unread, "-k", "hospital", option, tmp_path / name)
    assert result.exit_code == 2
    assert f"{option} {tmp_path / name}: " in result.error


def test_a_corpus_or_a_model_does_not_take_the_place_of_a_file(klda, corpus, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    refused = klda("prepare", file, "-k", "hospital", "-o", file)
    assert "notes.txt: is a file; name a folder" in refused.error
    assert "notes.txt: is a file; name a folder" in klda("train", corpus[0], "-m", file).error
    assert file.read_text() == "mine"


def test_a_corpus_or_a_model_is_not_written_among_other_files(klda, corpus, tmp_path):
    (tmp_path / "mine" / "ray").mkdir(parents=True)
    (tmp_path / "mine" / "ray" / "thesis.txt").write_text("mine")
    folder = tmp_path / "mine"
    refused = klda("prepare", folder / "ray" / "thesis.txt", "-k", "hospital", "-o", folder)
    assert (refused.exit_code, refused.error) == (
        2,
        f"--out {folder}: exists and is not a corpus; choose another folder",
    )
    for given in (folder, corpus[0]):
        refused = klda("train", corpus[0], "-m", given)
        assert (refused.exit_code, refused.error) == (
            2,
            f"--model {given}: exists and is not a model; choose another folder",
        )
    assert [path.name for path in folder.rglob("*")] == ["ray", "thesis.txt"]


def test_a_folder_that_cannot_be_written_to_gets_a_line_and_no_traceback(posts, monkeypatch, capsys):
    from klda.cli import app

    monkeypatch.setattr(sys, "argv", ["klda", "prepare", str(posts), "-k", "hospital", "-o", "/proc/corpus"])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == 1
    assert "check the path" in capsys.readouterr().err


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "Error writing bytes"), OSError(errno.EDQUOT, "quota")])
def test_a_full_disk_gets_a_line_and_no_traceback(posts, tmp_path, monkeypatch, capsys, error):
    from klda.cli import app
    from klda.text import storage

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(storage, "write", fail)
    monkeypatch.setattr(sys, "argv", ["klda", "prepare", str(posts), "-k", "hospital", "-o", str(tmp_path / "corpus")])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == 1
    assert "error: the disk is full; free some space" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("content", "said"), [("", "no posts, nor any other record;"), ("{}\n", "no posts;")])
def test_files_without_posts_are_named(klda, tmp_path, content, said):
    (tmp_path / "inbox").mkdir()
    file = tmp_path / "inbox" / "posts.jsonl"
    file.write_text(content)
    for given in (file, tmp_path / "inbox"):
        for command in (("recommend", given), ("prepare", given, "-o", tmp_path / "corpus")):
            result = klda(*command, "-k", "hospital")
            assert result.exit_code == 3
            assert result.error == f"{given}: {said} check the files and the filters"


def test_what_the_engine_would_not_heed_is_refused(klda, posts, corpus, tmp_path):
    prepare = ["prepare", posts, "--keywords", "a", "--out", tmp_path / "out"]
    for command, message in (
        ([*prepare, "--address", "head:6379"], "--address head:6379 means a Ray cluster; add --engine ray"),
        ([*prepare, "--engine", "ray", "--memory", "4GiB"], "--memory 4GiB bounds work on this machine; leave it out"),
        (["train", corpus[0], "-m", tmp_path / "m", "--workers", 2], "--workers 2 train together on Ray; add --engine"),
    ):
        result = klda(*command)
        assert result.exit_code == 2
        assert message in result.error
    assert not list(tmp_path.iterdir())


def test_nothing_to_read_is_said(klda, tmp_path):
    assert klda("recommend", "-k", "hospital").exit_code == 2
    missing = klda("recommend", tmp_path / "none.csv", "-k", "hospital")
    assert missing.exit_code == 2
    assert "none.csv" in missing.error


def test_simulate_writes_what_it_says(klda, tmp_path):
    file = tmp_path / "posts.jsonl.gz"
    result = json.loads(klda("simulate", file, "--weeks", "2", "--posts-per-week", "50", "--format", "json").stdout)
    assert result["posts"] == 100
    assert file.exists()
    assert result["emerging"]["words"]


def test_the_program_itself_prints_one_line_and_no_traceback(tmp_path):
    command = [sys.executable, "-m", "klda", "recommend", str(tmp_path / "none.csv"), "-k", "hospital"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
