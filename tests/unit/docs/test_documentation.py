"""Documentation that does not keep up with the code fails here."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import klda
from klda.cli.reference import reference
from klda.errors import KldaError
from klda.policies.registry import policies, policy

ROOT = Path(__file__).parents[3]
DOCS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def test_the_command_reference_is_what_the_program_says():
    assert (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8") == reference(), "run `make docs`"


def test_every_policy_is_documented():
    text = (ROOT / "docs" / "reference" / "policies.md").read_text(encoding="utf-8")
    missing = [name for name in policies() if f"`{name}`" not in text]
    assert not missing


def test_every_setting_of_a_policy_is_documented_with_its_default():
    text = (ROOT / "docs" / "reference" / "policies.md").read_text(encoding="utf-8")
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


def test_every_public_name_can_be_imported_and_says_what_it_is():
    for name in klda.__all__:
        assert inspect.getdoc(getattr(klda, name)), name


def test_every_exit_code_is_documented():
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    for error in [KldaError, *KldaError.__subclasses__()]:
        assert re.search(rf"^\| {error.exit_code} \|", text, re.MULTILINE), error.__name__


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_file_that_the_paper_page_names_exists():
    text = (ROOT / "docs" / "explanation" / "paper.md").read_text(encoding="utf-8")
    for path in set(re.findall(r"`((?:model|selection|policies|evaluation|corpus)/\w+\.py)`", text)):
        assert (ROOT / "src" / "klda" / path).exists(), path


def test_every_function_that_the_paper_page_names_exists():
    text = (ROOT / "docs" / "explanation" / "paper.md").read_text(encoding="utf-8")
    for path, names in re.findall(r"`((?:model|selection|policies|evaluation)/\w+\.py)` ((?:`\w+`(?:, )?)+)", text):
        code = (ROOT / "src" / "klda" / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"(def|class) {name}\b", code), f"{path} has no {name}"


def test_the_page_on_python_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = (ROOT / "docs" / "how-to" / "python.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/how-to/python.md", "exec"), {})
    assert {path.name for path in tmp_path.iterdir()} == {"next.json", "report.html", "corpus", "model"}
