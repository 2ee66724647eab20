"""The reference of all commands in Markdown, made from the commands themselves: `python -m klda.cli.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer.main

from klda.cli.app import app


def reference() -> str:
    """Every command with its arguments, options, defaults and help, as Markdown."""
    root = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        "Written by `make docs` from the program itself; `klda COMMAND --help` says the same.",
        "",
    ]
    lines += _sections(root, "klda", 2)
    return "\n".join(lines).rstrip() + "\n"


def _sections(command: object, name: str, depth: int) -> Iterator[str]:
    for child_name, child in getattr(command, "commands", {}).items():
        full = f"{name} {child_name}"
        yield f"{'#' * depth} `{full}`"
        yield ""
        yield (child.help or "").strip()
        yield ""
        if getattr(child, "commands", None):
            yield from _sections(child, full, depth + 1)
            continue
        rows = [_row(parameter) for parameter in child.params if parameter.name != "help"]
        if rows:
            yield "| name | meaning | default |"
            yield "|---|---|---|"
            yield from rows
            yield ""


def _row(parameter: typer.core.TyperOption | typer.core.TyperArgument) -> str:
    options = [*parameter.opts, *parameter.secondary_opts]
    is_option = any(option.startswith("-") for option in options)
    name = ", ".join(f"`{option}`" for option in options) if is_option else f"`{(parameter.name or '').upper()}`"
    default = parameter.default
    if parameter.required:
        shown = "required"
    elif default is None or callable(default) or default == "":
        shown = ""
    else:
        shown = f"`{getattr(default, 'value', default)}`"
    meaning = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| {name} | {meaning} | {shown} |"


if __name__ == "__main__":
    sys.stdout.write(reference())
