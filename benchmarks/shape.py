"""The shape of the code: how many modules there are, and which names stand for more than one thing.

    python -m benchmarks.shape [--source src/klda]

Prints JSON: `modules`, `lines`, the `largest` modules, and `packages` with their modules. Names of modules that occur
more than once come with their places. Under `one_thing`, they name a command, a page, and the code that both show.
Under `shared_names`, they name different things. `shared_classes` does the same for classes. `one_caller` lists
modules that only one other imports: they may be fragments to merge.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOR_PEOPLE = ("cli.", "web.")
"""Packages whose modules show to people what modules below do."""


def modules_of(source: Path) -> dict[str, ast.Module]:
    """Every module below a package folder by its dotted name, parsed; packages by the name of their folder."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported_by(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Which modules import each module."""
    callers: dict[str, set[str]] = defaultdict(set)
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    callers[inner if inner in modules else node.module].add(name)
    return callers


def shared(names: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Those names that stand in more than one place."""
    return {name: places for name, places in sorted(names.items()) if len(places) > 1}


def one_thing(places: list[str], callers: Mapping[str, set[str]], top: str) -> bool:
    """Whether modules of one name are about one thing: commands, pages, and at most one module that they import.

    >>> one_thing(["cli.rules", "monitor.rules"], {"klda.monitor.rules": {"klda.cli.rules"}}, "klda")
    True
    >>> one_thing(["cli.topics", "advice.topics", "report.topics"], {}, "klda")
    False
    """
    shown = {f"{top}.{place}" for place in places if place.startswith(FOR_PEOPLE)}
    below = [f"{top}.{place}" for place in places if not place.startswith(FOR_PEOPLE)]
    return bool(shown) and (not below or (len(below) == 1 and bool(callers.get(below[0], set()) & shown)))


def shape(source: Path) -> dict[str, Any]:
    """The figures of a package folder, as plain data."""
    modules = modules_of(source)
    top = source.name
    plain = [name for name in modules if not (source.parent / name.replace(".", "/")).is_dir()]
    files: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    for name in plain:
        files[name.rpartition(".")[2]].append(name.removeprefix(f"{top}."))
        for node in modules[name].body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name.removeprefix(f"{top}."))
    lines = {name: len((source.parent / f"{name.replace('.', '/')}.py").read_text().splitlines()) for name in plain}
    callers = imported_by(modules)
    names = shared(files)
    same = {name for name, places in names.items() if one_thing(places, callers, top)}
    return {
        "modules": len(plain),
        "lines": sum(lines.values()),
        "largest": dict(sorted(lines.items(), key=lambda entry: -entry[1])[:5]),
        "packages": dict(Counter(name.split(".")[1] if name.count(".") > 1 else top for name in plain)),
        "one_thing": {name: places for name, places in names.items() if name in same},
        "shared_names": {name: places for name, places in names.items() if name not in same},
        "shared_classes": shared(classes),
        "one_caller": sorted(name for name in plain if len(callers.get(name, ())) == 1),
    }


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src" / "klda")
    print(json.dumps(shape(parser.parse_args().source), indent=1))


if __name__ == "__main__":
    main()
