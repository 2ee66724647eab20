"""`klda start` end to end, as a user meets it."""

from __future__ import annotations

import csv
import io
import json

from klda.advice.proposal import Proposal
from klda.cli.arguments import parse_keywords


def test_a_subject_becomes_a_table_with_numbers_and_the_next_command(klda, posts):
    result = klda("start", "public health", posts)
    assert result.exit_code == 0
    assert "for 'public health' in" in result.stdout
    assert "Go on with: klda recommend" in result.stdout
    assert "--subject 'public health'" in result.stdout


def test_picked_words_are_saved_with_the_forms_that_were_counted_and_can_be_used(klda, posts, tmp_path):
    found = json.loads(klda("start", "health", posts, "--format", "json").stdout)
    file = tmp_path / "words.txt"
    result = klda("start", "health", "--sample", posts, "--pick", "2,1", "--save", file)
    assert result.exit_code == 0
    forms = [form for number in (2, 1) for form in found["words"][number - 1]["forms"]]
    assert parse_keywords(f"@{file}").texts == tuple(forms)
    assert f"--keywords @{file}" in result.stdout
    advice = klda("recommend", posts, "--keywords", f"@{file}", "--policy", "counting", "--format", "json")
    assert Proposal.from_json(advice.stdout).current.texts == tuple(forms)


def test_programs_get_a_row_for_each_word(klda, posts):
    rows = list(csv.DictReader(io.StringIO(klda("start", "health", posts, "--format", "csv", "--most", 3).stdout)))
    assert [row["number"] for row in rows] == [str(n) for n in range(1, len(rows) + 1)]
    assert rows[0]["keyword"] == "health"


def test_example_posts_come_from_a_text_file(klda, posts, tmp_path):
    file = tmp_path / "examples.txt"
    file.write_text("The hospital asks for nurses\nMy doctor is at the hospital\n", encoding="utf-8")
    result = klda("start", "health", posts, "--examples", file, "--format", "json")
    assert any("example posts" in word["why"] for word in json.loads(result.stdout)["words"])
    file.write_text("\n")
    assert "holds no post" in klda("start", "health", posts, "--examples", file).error


def test_a_subject_that_fits_no_post_gets_a_clear_answer(klda, posts):
    result = klda("start", "zzyzx", posts)
    assert result.exit_code == 0
    assert "No known post has the words of the subject: zzyzx." in result.stdout
    assert "No words for 'zzyzx'" in result.stdout
    assert "Go on with" not in result.stdout


def test_a_language_without_vectors_starts_from_the_words_of_the_subject(klda, posts):
    result = klda("start", "hospital", posts, "--language", "de")
    assert "No word vectors for language de" in result.stdout
    assert "hospital" in result.stdout


def test_wrong_input_is_refused_before_posts_are_read(klda, posts, tmp_path):
    assert "nothing to read" in klda("start", "health").error
    assert "--pick 'one'" in klda("start", "health", posts, "--pick", "one").error
    assert "there is no word 99" in klda("start", "health", posts, "--pick", "99").error
    assert "names nothing" in klda("start", "of the", posts).error
    assert "there is no such file" in klda("start", "health", tmp_path / "missing.csv").error
