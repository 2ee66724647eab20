from __future__ import annotations

import json

import pytest

from klda.errors import InputError, SettingError
from klda.evaluation.subjects import load_subjects

TWO = {
    "subjects": [
        {"name": "health", "keywords": ["health", "law enforcement"], "split": "tune"},
        {"name": "space", "keywords": ["nasa"], "labels": ["space", "nasa"], "split": "score"},
    ]
}


@pytest.fixture
def write(tmp_path):
    def write(content, name="subjects.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_json_and_toml_say_the_same(write):
    toml = """
    [[subjects]]
    name = "health"
    keywords = ["health", "law enforcement"]
    split = "tune"
    [[subjects]]
    name = "space"
    keywords = ["nasa"]
    labels = ["space", "nasa"]
    split = "score"
    """
    assert load_subjects(write(TWO)) == load_subjects(write(toml, "subjects.toml"))


def test_a_split_chooses_its_subjects(write):
    assert [s.name for s in load_subjects(write(TWO), "score")] == ["space"]
    with pytest.raises(SettingError, match="the file has score, tune"):
        load_subjects(write(TWO), "final")


def test_a_subject_is_said_in_words_or_else_by_its_name(write):
    said = {"name": "mail_voting", "keywords": ["ballot"], "subject": "voting by mail"}
    subjects = load_subjects(write({"subjects": [said, {"name": "small_business", "keywords": ["loans"]}]}))
    assert [subject.in_words for subject in subjects] == ["voting by mail", "small business"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid json"),
        ([], 'no list "subjects"'),
        ({"subjects": []}, 'no list "subjects"'),
        ({"subjects": ["health"]}, "subject 1: not an object"),
        ({"subjects": [{"keywords": ["a"]}]}, "field name"),
        ({"subjects": [{"name": "a", "keywords": []}]}, "field keywords"),
        ({"subjects": [{"name": "a", "keywords": ["a"], "labels": "b"}]}, "field labels"),
        ({"subjects": [{"name": "a", "keywords": ["b"], "subject": ["c"]}]}, "field subject"),
        ({"subjects": [TWO["subjects"][0]] * 2}, "two subjects named health"),
    ],
)
def test_a_bad_file_is_refused_with_the_place_and_the_reason(write, content, message):
    path = write(content)
    with pytest.raises(InputError, match=message) as error:
        load_subjects(path)
    assert str(path) in str(error.value)


def test_a_file_of_another_kind_is_said_to_be_neither_json_nor_toml(write):
    with pytest.raises(InputError, match=r"posts\.csv: not JSON or TOML .*give a JSON or TOML file of subjects"):
        load_subjects(write("id,time,text\n", "posts.csv"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_subjects(tmp_path / "none.json")
