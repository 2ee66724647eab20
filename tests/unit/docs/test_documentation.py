"""Documentation that does not keep up with the code fails here: whatever has a name is in the reference."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import MISSING, fields

import pytest
import typer.main

import klda
from klda import errors
from klda.cli.app import app
from klda.cli.reference import reference
from klda.errors import KldaError
from klda.policies.registry import policies, policy
from klda.posts.formats.generic import SYNONYMS
from klda.streams.platform_rules import PLATFORMS
from klda.streams.sources import SOURCES
from klda.web.problems import HEADINGS, STATUS
from klda.web.rest_reference import rest_reference
from klda.web.studio_settings import StudioSettings
from tests.unit.docs.pages import PAGES, ROOT

REFERENCE = ROOT / "docs" / "reference"


def _reference(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def _explanation(name: str) -> str:
    return (ROOT / "docs" / "explanation" / name).read_text(encoding="utf-8")


def test_the_command_reference_is_what_the_program_says():
    assert _reference("commands.md") == reference(), "run `make docs`"


def test_the_rest_reference_is_what_the_program_says():
    assert _reference("rest-api.md") == rest_reference(), "run `make docs`"


def test_every_command_is_in_the_reference_and_on_another_page():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page != REFERENCE / "commands.md")
    for name, command in typer.main.get_command(app).commands.items():
        for full in [f"{name} {child}" for child in getattr(command, "commands", {})] or [name]:
            assert f"`klda {full}`" in _reference("commands.md")
            assert re.search(rf"klda {full}\b|`{full.split()[-1]}\b", text), full


def test_every_policy_is_documented():
    text = _reference("policies.md")
    missing = [name for name in policies() if f"`{name}`" not in text]
    assert not missing


def test_every_setting_of_a_policy_is_documented_with_its_default():
    text = _reference("policies.md")
    rows = re.findall(r"^\| `(\w+)` \| (`.*?`) \| `(.*?)` \| .+ \|$", text, re.MULTILINE)
    shown = {
        (name, setting): ast.literal_eval(default)
        for setting, names, default in rows
        for name in re.findall(r"`([\w-]+)`", names)
    }
    there = {
        (name, setting): parameter.default
        for name in policies()
        for setting, parameter in inspect.signature(type(policy(name))).parameters.items()
    }
    assert shown == there


def test_every_setting_of_the_model_is_documented_with_its_default():
    documented = inspect.getdoc(klda.KLDA)
    for name, parameter in inspect.signature(klda.KLDA).parameters.items():
        line = re.search(rf"^{name} : .*$", documented, re.MULTILINE)
        assert line, f"{name} is not documented"
        shown = re.search(r"default (.+)$", line[0])
        assert shown, f"{name}: no default is documented"
        assert ast.literal_eval(shown[1]) == parameter.default, f"{name}: the documented default is {shown[1]}"


def test_every_setting_of_the_studio_is_documented_with_its_default():
    text = _reference("studio-settings.md")
    for field in fields(StudioSettings):
        row = re.search(rf"^\| `{field.name}` \|.*\| (.*) \|$", text, re.MULTILINE)
        assert row, f"{field.name} is not documented"
        if field.default not in (MISSING, ()):
            assert row[1] == f"`{field.default}`", field.name


def test_every_public_name_can_be_imported_and_says_what_it_is():
    for name in klda.__all__:
        assert inspect.getdoc(getattr(klda, name)), name


def test_every_public_name_is_in_the_reference():
    text = _reference("python-api.md")
    names = {name for name in klda.__all__ if f"::: klda.{name}\n" not in text}
    assert not names


def test_every_error_is_documented_with_its_exit_code():
    text = _reference("exit-codes.md")
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, KldaError):
            assert re.search(rf"^\| {error.exit_code} \|.*`{error.__name__}`", text, re.MULTILINE), error.__name__


def test_every_status_of_the_rest_api_is_documented():
    text = _reference("exit-codes.md")
    for status in {*HEADINGS, *STATUS.values()}:
        assert re.search(rf"^\| {status} \|", text, re.MULTILINE), status


def test_every_field_of_a_post_is_documented():
    text = _reference("file-formats.md")
    assert [name for name in SYNONYMS if f"`{name}`" not in text] == []


def test_every_part_of_a_proposal_is_documented():
    text = _reference("file-formats.md")
    plain = klda.Proposal(policy="klda", current=klda.KeywordSet.of("vote")).to_dict()
    assert [name for name in plain if f"`{name}`" not in text] == []


def test_every_source_and_platform_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "how-to").glob("*.md"))
    assert [name for name in (*SOURCES, *PLATFORMS) if name not in text] == []


@pytest.mark.parametrize("name", ["paper.md", "architecture.md", "choosing.md"])
def test_every_file_that_a_page_on_the_code_names_exists(name: str):
    folders = "|".join(path.name for path in (ROOT / "src" / "klda").iterdir() if (path / "__init__.py").exists())
    for path in set(re.findall(rf"`((?:{folders})/\w+\.py)`", _explanation(name))):
        assert (ROOT / "src" / "klda" / path).exists(), path


def test_every_function_that_the_paper_page_names_exists():
    found = re.findall(r"`(\w+/\w+\.py)` ((?:`\w+`(?:, )?)+)", _explanation("paper.md"))
    assert found
    for path, names in found:
        code = (ROOT / "src" / "klda" / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"(def|class) {name}\b", code), f"{path} has no {name}"


def test_the_page_on_architecture_names_every_layer():
    text = _explanation("architecture.md")
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("layers = [")[2].partition("]")[0]
    assert [layer for layer in re.findall(r"\w+", contract) if layer != "__main__" and f"`{layer}`" not in text] == []


def test_every_test_that_the_page_on_invariants_names_exists():
    for path in re.findall(r"`(tests/[\w/]+(?:\.py)?)`", _reference("invariants.md")):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`(test_\w+\.py)`", _reference("invariants.md")):
        assert list((ROOT / "tests").rglob(name)), name


def test_every_file_and_folder_that_the_guide_for_contributors_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|docs|benchmarks|examples|\.github)/[\w./-]*)`", text))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_package_is_on_the_map_for_contributors():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "src" / "klda").glob("*/__init__.py")]
    assert [name for name in packages if f"`src/klda/{name}/`" not in text] == []
