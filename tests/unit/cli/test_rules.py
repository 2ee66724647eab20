"""`klda rules`: a saved proposal as requests of a platform, or as a query to paste."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klda.advice.proposal import Proposal, write_proposal
from klda.cli.app import app
from klda.types import KeywordSet

LIST = KeywordSet.of("apple AND (iphone OR ios)", '"app store"', "-pie")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    write_proposal(Proposal("static", LIST, keep=LIST), tmp_path / "next.json")
    return tmp_path / "next.json"


@pytest.mark.parametrize("option", ["--for", "--platform"])
def test_a_tool_gets_a_query_to_paste(saved: Path, option: str) -> None:
    shown = CliRunner().invoke(app, ["rules", str(saved), option, "brandwatch", "--format", "table"]).stdout
    assert shown.splitlines()[-1] == '((apple AND (iphone OR ios)) OR "app store") NOT pie'


def test_a_list_in_use_may_have_queries_and_exclusions(saved: Path) -> None:
    diff = 'apple AND (iphone OR ios), "app store", -cake'
    answer = CliRunner().invoke(app, ["rules", str(saved), "--for", "x-v2", "--diff", diff]).stdout
    made = json.loads(answer)
    assert (made["add"], made["remove"]) == (["-pie"], ["-cake"])
    assert made["requests"] == [
        {
            "add": [
                {"value": '((apple (iphone OR ios)) OR "app store") -pie', "tag": made["requests"][0]["add"][0]["tag"]}
            ]
        },
        {"delete": {"values": ['((apple (iphone OR ios)) OR "app store") -cake']}},
    ]
