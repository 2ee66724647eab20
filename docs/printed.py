"""Runs the commands whose output pages show, and puts what they print between the marks: `python docs/printed.py`.

A mark is `<!-- output: klda … -->`, and `<!-- output: end -->` where the output ends. Commands run in a folder that
holds only `posts.parquet`, made by `SIMULATE`."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "get-started" / "first-advice.md")
SIMULATE = "klda simulate posts.parquet --weeks 6 --posts-per-week 5000"
COLUMNS = 80
_MARKED = re.compile(r"<!-- output: (klda [^\n]+) -->\n(.*?)<!-- output: end -->", re.DOTALL)


def printed(text: str) -> str:
    """The page with what its commands print today."""
    with tempfile.TemporaryDirectory() as folder:
        _run(SIMULATE, folder)
        return _MARKED.sub(lambda found: _marked(found[1], _run(found[1], folder)), text)


def _marked(command: str, output: str) -> str:
    return f"<!-- output: {command} -->\n```text\n{output}```\n<!-- output: end -->"


def _run(command: str, folder: str) -> str:
    words = [sys.executable, "-m", *shlex.split(command)]
    own = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(words, cwd=folder, env=own, check=True, capture_output=True, text=True, encoding="utf-8")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(printed(page.read_text(encoding="utf-8")), encoding="utf-8")
