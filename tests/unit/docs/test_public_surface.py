"""What people import is in `klda.__all__`, is documented, and is all that pages, examples and notebooks use."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import klda
from tests.unit.docs.pages import PAGES, ROOT, blocks, name_of

STABILITY = (ROOT / "docs" / "reference" / "stability.md").read_text(encoding="utf-8")
SHOWN_ALL_THE_SAME = set(re.findall(r"`(klda\.\w+\.\w+\.\w+)`", STABILITY))
"""Names in deeper modules that pages show, and that may change."""
INSIDE = {"demo.py"}
"""The program behind `make demo` prints with what the commands print with."""


def notebook(path: Path) -> str:
    """The code of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


CODE = {
    **{name_of(page): "\n".join(c for language, c in blocks(page) if language == "python") for page in PAGES},
    **{
        name_of(path): path.read_text(encoding="utf-8")
        for path in (ROOT / "examples").glob("*.py")
        if path.name not in INSIDE
    },
    **{name_of(path): notebook(path) for path in (ROOT / "notebooks").glob("*.ipynb")},
}


def imported(code: str) -> set[str]:
    """The full name of everything that code imports from us."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] == "klda"}


def is_public(name: str) -> bool:
    """Whether a name is one that people may import."""
    below = name.split(".")[1:]
    return not below or (len(below) == 1 and below[0] in klda.__all__) or below[0] == "errors"


@pytest.mark.parametrize("place", [place for place, code in CODE.items() if imported(code)])
def test_only_public_names_are_shown(place: str):
    assert {name for name in imported(CODE[place]) if not is_public(name)} <= SHOWN_ALL_THE_SAME


def test_every_exception_is_shown_somewhere():
    used = set().union(*map(imported, CODE.values()))
    assert used >= SHOWN_ALL_THE_SAME


def test_every_attribute_of_klda_that_is_shown_is_public():
    for place, code in CODE.items():
        used = {
            node.attr
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "klda"
        }
        assert used <= {*klda.__all__, "__version__"}, place


def test_a_name_of_the_reference_is_public():
    text = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: klda\.([\w.]+)$", text, re.MULTILINE)) == sorted(klda.__all__)


def test_no_public_name_is_hidden_by_a_package():
    """`klda.policies` is a package; a function of this name would be gone once the package is imported."""
    inside = {path.stem for path in Path(klda.__file__).parent.iterdir()}
    assert inside & set(klda.__all__) == {"errors"}


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'recomend'"):
        klda.recomend  # noqa: B018
    assert dir(klda) == sorted(klda.__all__)


def test_import_klda_is_light():
    heavy = "{'torch', 'polars', 'pyarrow', 'numpy', 'sklearn', 'scipy'}"
    code = f"import sys, klda; klda.errors.KldaError; klda.KeywordSet; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
