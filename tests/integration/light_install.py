"""The wheel in an environment without extras: `make wheel`, and the test of it.

`make wheel` builds the wheel and lets pip install it, with everything that it asks for, into an empty environment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"

WORKS = {
    "klda --help": "Which keywords to follow next",
    "klda simulate posts.parquet --weeks 4 --posts-per-week 600": "2,400 posts in posts.parquet",
    "klda recommend posts.parquet -k horse,race --save next.json --report report.html": "race",
    "klda rules next.json --platform mastodon --format table": "terms for mastodon",
    "klda monitor --help": "Needs klda[monitor].",
    "klda serve --help": "Needs klda[web].",
}
"""Commands, in this order, and what each of them prints."""
REFUSED = {"klda monitor list": "monitor", "klda serve": "web"}
"""Commands that need an extra, and which."""


def build(folder: Path) -> Path:
    """The wheel of this project, built by the tools that are installed here."""
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("klda-*.whl")
    return wheel


def files_in(wheel: Path) -> set[str]:
    """The files of the package in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name.startswith("klda/")}


def installed(wheel: Path, folder: Path) -> Path:
    """The programs of an environment into which pip has installed the wheel and what it asks for."""
    venv.create(folder, clear=True, with_pip=True)
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--constraint", CONSTRAINTS, wheel], check=True)
    return folder / "bin"


def linked(wheel: Path, folder: Path) -> Path:
    """The programs of an environment with the wheel, and with links to those packages of ours that it asks for."""
    venv.create(folder, clear=True)
    _pip("--python", str(folder / "bin" / "python"), "install", "--no-deps", "--no-index", str(wheel))
    (packages,) = folder.glob("lib/python*/site-packages")
    (mine,) = Distribution.discover(name="klda", path=[str(packages)])
    for package in _asked_for(mine):
        for file in package.files or ():
            top, here = file.parts[0], Path(str(package.locate_file("")))
            if top not in ("..", "__pycache__") and not (packages / top).exists():
                (packages / top).symlink_to(here / top)
    return folder / "bin"


def _asked_for(package: Distribution) -> list[Distribution]:
    """What a package asks for without extras, and what that asks for in turn."""
    found: dict[str, Distribution] = {}
    waiting = [(Requirement(text), "") for text in package.requires or ()]
    while waiting:
        wanted, extra = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (wanted.marker is None or wanted.marker.evaluate({"extra": extra})) and name not in found:
            found[name] = distribution(name)
            waiting += [
                (Requirement(text), more) for text in found[name].requires or () for more in wanted.extras or {""}
            ]
    return list(found.values())


def check(programs: Path, folder: Path) -> None:
    """Runs the commands in an empty folder; an error where one does not do what it must."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KLDA"))}

    def said(words: list[str], code: int) -> str:
        command = [programs / words[0], *words[1:]]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return " ".join(f"{done.stdout} {done.stderr}".split())

    assert said(["python", "-c", "import klda; print(klda.__file__)"], 0).startswith(str(programs.parent))
    for line, printed in WORKS.items():
        assert printed in said(line.split(), 0), line
    assert "<svg" in (folder / "report.html").read_text(encoding="utf-8")
    for line, extra in REFUSED.items():
        assert said(line.split(), 6).endswith(f"pip install 'klda[{extra}]'"), line


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def main() -> None:
    """Builds the wheel, installs it, and tries it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path, help="Folder for the wheel.")
    parser.add_argument("environment", type=Path, help="Folder for the environment.")
    chosen = parser.parse_args()
    wheel = build(chosen.wheels)
    programs = installed(wheel, chosen.environment)
    check(programs.absolute(), chosen.environment / "tried")
    print(f"{wheel}: installs without extras, and works")


if __name__ == "__main__":
    main()
