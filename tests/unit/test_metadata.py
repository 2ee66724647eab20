"""What is said of the package in several places is the same everywhere."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version

import klda
from tests.unit.docs.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    releases = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", _read("CHANGELOG.md"), re.MULTILINE)
    cited = re.search(r"^version: (.+)\ndate-released: (.+)$", _read("CITATION.cff"), re.MULTILINE)
    assert cited is not None
    assert releases[0] == cited.groups() == (PROJECT["version"], cited[2])
    assert klda.__version__ == version("klda") == PROJECT["version"], "run `make setup`"


def test_the_changelog_has_room_for_what_comes_next() -> None:
    headings = re.findall(r"^## (.+)$", _read("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"


def test_python_versions_are_those_that_are_tested() -> None:
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    matrix = re.search(r"python: \[(.+)\]", _read(".github/workflows/test.yml"))
    assert matrix is not None
    assert matrix[1].replace('"', "").split(", ") == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert f"Python {', '.join(named[:-1])} and {named[-1]}" in _read("CONTRIBUTING.md")


def test_the_constraints_pin_every_package_that_is_asked_for() -> None:
    pinned = {
        _canonical(name): number
        for name, number in re.findall(r"^([\w.-]+)==(\S+)$", _read("constraints.txt"), re.MULTILINE)
    }
    optional = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *(one for extra, more in optional.items() if extra != "spacy" for one in more)]
    names = {_canonical(re.split(r"[<>=\[ ]", one)[0]) for one in asked} - {"klda"}
    assert names - pinned.keys() == set()
    assert pinned["torch"] == "2.13.0"


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
