"""What commands say of the language of posts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from klda.cli.archives import open_replay
from klda.cli.inputs import Reading, open_corpus
from klda.errors import DataError
from klda.evaluation.subjects import Subject
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, silent

ITALIAN = "La scossa di terremoto è stata sentita anche a Modena, e non ci sono feriti."
ENGLISH = "The shock of the earthquake was felt in Modena, and nobody is hurt: #terremoto."
KEYWORDS = KeywordSet.of("terremoto")


def write(file: Path, *texts: str) -> Path:
    posts = ({"id": str(i), "text": text, "created_at": "2026-01-05T00:00:00Z"} for i, text in enumerate(texts))
    file.write_text("\n".join(map(json.dumps, posts)) + "\n")
    return file


def recommend(file: Path, language: str, only: bool = False) -> None:
    settings = TextSettings(language=language, min_count=1)
    open_corpus([file], KEYWORDS, Reading({}, languages=(language,) if only else None), settings, "7d", silent)


def backtest(file: Path, language: str) -> None:
    work, subjects = file.parent / "work", [Subject("quake", KEYWORDS)]
    open_replay([file], subjects, Reading({}), "7d", language=language, work=work, training=None, progress=silent)


@pytest.mark.parametrize("command", [recommend, backtest])
def test_posts_in_another_language_than_asked_for_are_told(command, tmp_path, capsys) -> None:
    command(write(tmp_path / "posts.jsonl", *[f"RT @modena: {ITALIAN}"] * 30, *[ENGLISH] * 10), "en")
    told = capsys.readouterr().err
    assert told.startswith("Note: most posts seem to be Italian (it) (30 of 40 checked); add --language it")


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("it", [ITALIAN] * 40),
        ("en", [ENGLISH] * 40),
        ("en", [ENGLISH] * 30 + [ITALIAN] * 10),
        ("en", [ITALIAN] * 5),  # too few to be sure
        ("en", ["terremoto 😱 https://t.co/x"] * 9 + [ENGLISH] * 11),
    ],
)
def test_nothing_is_said_of_posts_in_the_language_or_too_few_to_tell(language, texts, tmp_path, capsys) -> None:
    recommend(write(tmp_path / "posts.jsonl", *texts), language)
    assert capsys.readouterr().err == ""


def test_nothing_is_said_where_posts_were_chosen_by_their_language(tmp_path, capsys) -> None:
    recommend(write(tmp_path / "posts.jsonl", *[ITALIAN] * 30, *[ENGLISH] * 10), "en", only=True)
    assert capsys.readouterr().err == ""


def test_posts_that_all_went_by_their_language_are_counted(tmp_path) -> None:
    with pytest.raises(
        DataError, match=r"no posts are left; 30 of 30 were dropped because of their language: .* --only-language"
    ):
        recommend(write(tmp_path / "posts.jsonl", *[ITALIAN] * 30), "en", only=True)


def test_a_language_of_which_nothing_is_known_is_told(tmp_path, capsys) -> None:
    recommend(write(tmp_path / "posts.jsonl", *[ENGLISH] * 5), "xx")
    assert capsys.readouterr().err.startswith("Note: --language xx: klda has no stemmer")
