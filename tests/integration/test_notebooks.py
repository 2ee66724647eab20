"""Every notebook runs from top to bottom without a network, and is kept without its outputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OFFLINE = """
import socket, warnings
def _refused(*args, **kwargs): raise OSError("a notebook of ours needs no network")
socket.getaddrinfo = socket.create_connection = socket.socket.connect = _refused
warnings.simplefilter("error", __import__("klda").errors.TrainingWarning)
"""
"""Put before the first cell: names of machines are not looked up, nothing is connected; a model that learnt nothing
fails."""
RUN = """
import sys
import nbclient, nbformat
book = nbformat.read(sys.argv[1], 4)
nbformat.validate(book)
book.cells.insert(0, nbformat.v4.new_code_cell(sys.argv[2]))
nbclient.NotebookClient(book, timeout=200, kernel_name="python3").execute()
nbformat.write(book, sys.argv[3])
"""


def read(path: Path) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return plain


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The notebooks with what they show; each runs once, in a process of its own."""
    folder = tmp_path_factory.mktemp("notebooks")
    own = os.environ | {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_PLATFORM_DIRS": "1"}
    found = {}
    for path in NOTEBOOKS:
        command = [sys.executable, "-c", RUN, str(path), OFFLINE, str(folder / path.name)]
        done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)
        assert done.returncode == 0, f"{path.name}: {done.stderr[-3000:]}"
        found[path.stem] = read(folder / path.name)
    return found


def shown(book: dict[str, Any]) -> str:
    """Everything that a notebook shows but bars of progress."""
    outputs = [output for cell in book["cells"] for output in cell.get("outputs", [])]
    texts = [o["text"] for o in outputs if o.get("name") == "stdout"]
    texts += [text for o in outputs for kind, text in o.get("data", {}).items() if kind.startswith("text/")]
    return "\n".join("".join(text) for text in texts)


@pytest.mark.slow
def test_the_notebooks_run_and_show_what_they_promise(executed: dict[str, dict[str, Any]]) -> None:
    assert set(executed) == {"first_advice", "topic_model", "compare_policies", "the_paper"}
    advice, topics, policies = (shown(executed[name]) for name in ("first_advice", "topic_model", "compare_policies"))
    assert "redlung" in advice
    assert "<table>" in advice
    assert "topic 3: " in topics
    assert "infect" in topics
    assert "klda's next lists had" in policies
    assert "Closed loop, mean over subjects and windows" in policies
    paper = shown(executed["the_paper"])
    assert "sum over 15 sets    1.000000" in paper
    assert "Proposal of klda-paper" in paper


@pytest.mark.slow
def test_nothing_is_shown_twice_or_by_mistake(executed: dict[str, dict[str, Any]]) -> None:
    for name, book in executed.items():
        errors = [o for c in book["cells"] for o in c.get("outputs", []) if o["output_type"] == "error"]
        assert errors == [], name
        assert "Warning" not in shown(book), name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    """Outputs would grow old. Whoever opens a notebook runs it; it takes seconds."""
    book = read(path)
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert all(cell["metadata"] == {} for cell in book["cells"])
    assert [cell["id"] for cell in book["cells"]] == [
        f"{path.stem.replace('_', '-')}-{number:02d}" for number in range(1, len(book["cells"]) + 1)
    ]
    again = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
    assert path.read_text(encoding="utf-8") == again, "write it as `json.dumps(…, indent=1)` does"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_explains_itself(path: Path) -> None:
    cells = read(path)["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert source(cells[0]).startswith("# ")
    explained = [cell for cell in cells if cell["cell_type"] == "markdown"]
    assert len(explained) >= len(cells) / 3
    for cell in explained:
        for target in re.findall(r"\]\(([^)#]+)", source(cell)):
            assert (path.parent / target).exists(), target


def test_every_notebook_is_linked() -> None:
    first = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "how-to" / "python.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert f"notebooks/{path.name}" in first
        assert f"notebooks/{path.name}" in page
