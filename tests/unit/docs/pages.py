"""Pages of the documentation, read as people read them: headings, links, code and sentences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown.extensions.toc import slugify

ROOT = Path(__file__).parents[3]
SITE = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *SITE]
GENERATED = [ROOT / "docs" / "reference" / name for name in ("commands.md", "rest-api.md")]
"""Written by programs from help texts and docstrings."""
HISTORY = [page for page in SITE if page.parent.name == "history"]
"""A log: what was written stays as it was written."""

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_`\[A-Z0-9…=<])|(?<=:)\s*$")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")


def name_of(page: Path) -> str:
    """The path of a page, as pytest shows it."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page, each with its language."""
    return [(found[2], found[3]) for found in _FENCE.finditer(page.read_text(encoding="utf-8"))]


def without_code(page: Path) -> str:
    """The text of a page without its code blocks and comments."""
    text = _FENCE.sub("\n", page.read_text(encoding="utf-8"))
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"(?m)^(?: {4}|\t)(?! *[-*] )(?! *\d+\. ).*$", "", text) if page in SITE else text


def headings(page: Path) -> set[str]:
    """The anchors of a page, as the site makes them."""
    found: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", _FENCE.sub("\n", page.read_text(encoding="utf-8")), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "")
        anchor, number = slugify(plain, "-"), 0
        while (anchor if not number else f"{anchor}_{number}") in found:
            number += 1
        found.add(anchor if not number else f"{anchor}_{number}")
    return found


def links(page: Path) -> list[str]:
    """The targets of all links and pictures."""
    return re.findall(r"\]\(([^)\s]+)\)", without_code(page))


def running_text(page: Path) -> Iterator[str]:
    """Sentences of paragraphs and list items."""
    paragraph: list[str] = []
    for line in [*without_code(page).splitlines(), ""]:
        starts = not line.strip() or _ITEM.match(line) or line.startswith(("#", "|", "!["))
        if starts and paragraph:
            yield from sentences(" ".join(paragraph))
            paragraph = []
        if line.strip() and not line.startswith(("#", "|", "![")):
            paragraph.append(_ITEM.sub("", line).strip())


def cells(page: Path) -> Iterator[str]:
    """Sentences of headings and of the cells of tables."""
    for line in without_code(page).splitlines():
        if line.startswith("#"):
            yield line.lstrip("# ")
        elif line.startswith("|") and not re.fullmatch(r"[|\- :]+", line):
            for cell in re.split(r"(?<!\\)\|", line.strip("|")):
                yield from sentences(cell)


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return [part for part in (piece.strip() for piece in _SENTENCE_END.split(plain)) if part]


def n_words(sentence: str) -> int:
    """How many words a reader takes in; a piece of code is one."""
    plain = re.sub(r"`[^`]*`", " code ", sentence)
    return sum(1 for word in plain.split() if re.search(r"\w", word))


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Builds the site into a folder, as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    own = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True)
