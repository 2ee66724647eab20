"""What `pip install klda` brings is enough for the commands that need no extra, and the others say what to install."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from klda import extras
from klda.errors import MissingExtraError, SettingError
from klda.store.sql.database import Database
from tests.unit.docs.pages import ROOT

SOURCE = ROOT / "src" / "klda"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDS = {
    "store": {"monitor"},
    "streams": {"monitor"},
    "monitor": {"monitor"},
    "web": {"web"},
    "ray": {"ray"},
    "cli/serve.py": {"web"},
    "streams/kafka.py": {"kafka"},
    "text/languages.py": {"languages"},
    "baselines/nouns.py": {"spacy"},
}
"""Extras that files, or all files of a folder, may import from; all others get by without."""
WITH_OTHERS = {"markupsafe": "jinja2", "starlette": "fastapi"}
"""Packages that come with one of ours."""
PANDAS = {"ray/preparation.py": "comes with Ray Data", "cells.py": "says itself that it is missing"}
NOT_IMPORTED = {
    "python-multipart": "FastAPI asks for it where forms are sent",
    "psycopg": "SQLAlchemy imports it by its name",
    "unidic-lite": "the dictionary of fugashi",
    "wordllama": "of its files only the vectors are read",
}


def test_a_package_is_imported_only_where_its_extra_is_needed() -> None:
    core = _names(PROJECT["dependencies"])
    wrong = []
    for file, package in _imports():
        path = file.relative_to(SOURCE).as_posix()
        asked = set().union(*(more for place, more in NEEDS.items() if path == place or path.startswith(f"{place}/")))
        allowed = core.union(*(set(extras.packages(extra)) for extra in asked))
        if package not in allowed and not (package == "pandas" and path in PANDAS):
            wrong.append(f"{path} imports {package}")
    assert not wrong


def test_no_package_is_asked_for_that_nothing_imports() -> None:
    used = {package for _, package in _imports()} | NOT_IMPORTED.keys()
    optional = {name for extra in ("kafka", "languages", "postgres", "ray", "spacy", "web") for name in _of(extra)}
    assert (_names(PROJECT["dependencies"]) | optional) - used == set()


def test_every_extra_is_in_the_documents() -> None:
    text = (ROOT / "docs" / "get-started" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(PROJECT["optional-dependencies"])


def test_an_extra_has_the_packages_of_the_extras_in_it() -> None:
    assert set(extras.packages("monitor")) == _of("monitor")
    assert set(extras.packages("web")) == _of("web") > _of("monitor")
    assert set(extras.packages("nothing of this name")) == set()


def test_the_error_names_the_package_and_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    extras.require("monitor", "this test")
    monkeypatch.setattr(extras, "_is_installed", lambda name: name not in ("httpx", "websockets"))
    with pytest.raises(MissingExtraError) as error:
        extras.require("web", "this test")
    assert str(error.value) == "this test needs httpx; install it with: pip install 'klda[web]'"


def test_postgresql_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: name != "psycopg")
    with pytest.raises(MissingExtraError, match=r"PostgreSQL needs psycopg; .*'klda\[postgres\]'"):
        Database("postgresql://somebody@127.0.0.1:1/records")
    with pytest.raises(SettingError):
        Database("mysql://somebody@127.0.0.1:1/records")


LIGHT = """
import sys
from importlib import metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

kept, waiting = set(), ["klda"]
while waiting:
    name = canonicalize_name(waiting.pop())
    if name not in kept:
        kept.add(name)
        for text in metadata.requires(name) or ():
            one = Requirement(text)
            if one.marker is None or one.marker.evaluate({"extra": ""}):
                waiting.append(one.name)
gone = {
    module
    for module, owners in metadata.packages_distributions().items()
    if not any(canonicalize_name(owner) in kept for owner in owners)
}
usual = metadata.distribution


def distribution(name):
    if canonicalize_name(name) not in kept:
        raise metadata.PackageNotFoundError(name)
    return usual(name)


class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in gone - {"packaging"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


metadata.distribution = distribution
sys.meta_path.insert(0, Gone())
assert {"deltalake", "httpx", "sqlalchemy", "fastapi", "ray", "jieba"} <= gone, gone

from klda.cli.app import main

for line in sys.stdin.read().splitlines():
    sys.argv = ["klda", *line.split()]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code
    print("exit", code or 0, line, file=sys.stderr)
"""


def test_commands_work_without_extras_or_name_theirs(tmp_path: Path) -> None:
    works = [
        "simulate posts.parquet --weeks 4 --posts-per-week 600",
        "recommend posts.parquet -k horse,race --report report.html --save next.json",
        "recommend posts.parquet -k horse,race --policy counting",
        "rules next.json --platform mastodon",
        "prepare posts.parquet -k horse,race --out corpus --min-count 2",
        "train corpus --model model --topics 2 --max-iterations 2",
        "backtest posts.parquet --subjects subjects.json --weeks 1 --test-weeks 1 --policies counting --work work",
        "policies",
        "monitor --help",
        "monitor run --help",
        "serve --help",
    ]
    refused = {
        "monitor list": "monitor",
        "monitor run one": "monitor",
        "serve": "web",
        "train corpus --model other --engine ray": "ray",
    }
    (tmp_path / "subjects.json").write_text('{"subjects": [{"name": "horses", "keywords": ["horse", "race"]}]}')
    done = subprocess.run(
        [sys.executable, "-c", LIGHT],
        input="\n".join([*works, *refused]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    exits = dict(
        reversed(line.split(maxsplit=1)[1].split(maxsplit=1)) for line in re.findall("^exit .*$", done.stderr, re.M)
    )
    assert exits == dict.fromkeys(works, "0") | dict.fromkeys(refused, "6"), done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    for line, extra in zip(said, refused.values(), strict=True):
        assert line.endswith(f"pip install 'klda[{extra}]'")
    shown = " ".join(done.stdout.split())
    assert "Needs klda[monitor]" in shown
    assert "Needs klda[web]" in shown


def _imports() -> Iterator[tuple[Path, str]]:
    """Every file with each package of others that it imports, anywhere in it."""
    owners = {module: names[0].lower() for module, names in packages_distributions().items()}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.module is not None
                names = [node.module]
            for name in names:
                module = name.partition(".")[0]
                if module not in sys.stdlib_module_names and module != "klda":
                    yield file, _canonical(WITH_OTHERS.get(module, owners.get(module, module)))


def _of(extra: str) -> set[str]:
    wanted = PROJECT["optional-dependencies"][extra]
    return _names(one for one in wanted if not one.startswith("klda[")).union(
        *(_of(inner) for one in wanted if one.startswith("klda[") for inner in one[5:-1].split(","))
    )


def _names(requirements: Iterator[str] | list[str]) -> set[str]:
    return {_canonical(re.split(r"[<>=\[ ]", one)[0]) for one in requirements}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
