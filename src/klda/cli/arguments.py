"""Arguments that several commands share: checks, and how text becomes values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from klda.errors import InputError, QueryError, SettingError
from klda.query import split_list
from klda.types import Keyword, KeywordSet

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def parse_keywords(text: str, option: str = "--keywords") -> KeywordSet:
    """The keywords in a comma-separated text, or in the file after an @, on one line or several.

    >>> parse_keywords('health, "computer virus", apple AND (iphone OR ios), -pie').texts
    ('health', '"computer virus"', 'apple AND (iphone OR ios)', '-pie')
    """
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{option} {text}: cannot read {path} ({error}); give a UTF-8 file, one keyword a line"
            ) from error
        places = [(f"{option} {path}, line {n}", line) for n, line in enumerate(lines, 1)]
        places = [(where, line) for where, line in places if not line.lstrip().startswith("# ")]
    else:
        places = [(option, text)]
    keywords = KeywordSet.of(*(_keyword(entry, where) for where, line in places for entry in split_list(line)))
    if not keywords and not text:
        raise SettingError(f'no keywords given; write for example {option} health,drug,"computer virus"')
    if not keywords:
        raise SettingError(f'{option}: no keyword in {text!r}; write for example {option} health,drug,"computer virus"')
    return keywords


def _keyword(text: str, where: str) -> Keyword:
    try:
        return Keyword(text)
    except QueryError as error:
        raise error.within(where) from error


def parse_names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated text, each once.

    >>> parse_names("counting, random,counting")
    ('counting', 'random')
    """
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def check_files(*paths: Path | None) -> None:
    """Refuses a missing file or folder before large libraries are loaded. Addresses such as s3:// are not checked.

    >>> check_files(None, Path("s3://archive/2026"))
    """
    for path in paths:
        if path is not None and not path.exists() and not _ADDRESS.match(str(path)):
            raise InputError(f"{path}: there is no such file or folder; check the path")


def check_output(path: Path | None, option: str) -> None:
    """Refuses a file that cannot be written, before the work starts."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; name a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}; make it, or give another path")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{option} {path}: cannot be written; give another path")


def check_folder(folder: Path, option: str, what: str, is_own: Callable[[Path], bool]) -> None:
    """Refuses a folder with other content, before the work starts."""
    if folder.is_file():
        raise InputError(f"{option} {folder}: is a file; name a folder")
    if folder.exists() and any(folder.iterdir()) and not is_own(folder):
        raise InputError(f"{option} {folder}: exists and is not a {what}; choose another folder")


def check_local(address: str | None, workers: int = 1) -> None:
    """Refuses options of Ray (a cluster's address, several workers) if the work is done on this machine."""
    if address is not None:
        raise SettingError(f"--address {address} means a Ray cluster; add --engine ray")
    if workers > 1:
        raise SettingError(f"--workers {workers} train together on Ray; add --engine ray")


def parse_mapping(pairs: Iterable[str]) -> dict[str, str]:
    """Column names of a file by the field that they hold, from `field=column` pairs.

    >>> parse_mapping(["text=body", "time=posted at"])
    {'text': 'body', 'time': 'posted at'}
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        name, sign, column = pair.partition("=")
        if not (sign and name.strip() and column.strip()):
            raise SettingError(f"--map {pair!r}: write field=column, for example --map text=body")
        mapping[name.strip()] = column.strip()
    return mapping


def parse_settings(pairs: Iterable[str], policy: str, *, elsewhere: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of a policy in `name=value` pairs: numbers, true, false, none, lists in brackets, or texts.

    Settings named `elsewhere` have an option of their own.

    >>> parse_settings(["iterations=500", "word_weight=vocabulary", "high_frequency=none"], "klda-paper")
    {'iterations': 500, 'word_weight': 'vocabulary', 'high_frequency': None}
    """
    from klda.policies.registry import defaults_of

    defaults = defaults_of(policy)
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = (part.strip() for part in pair.partition("="))
        if not (sign and name and text):
            raise SettingError(f"--set {pair!r}: write name=value, for example --set top=3")
        if name not in defaults:
            raise SettingError(
                f"--set {pair!r}: policy {policy!r} has no setting {name!r}; it has {', '.join(defaults) or 'none'}"
            )
        if name in elsewhere:
            raise SettingError(f"--set {pair!r}: use the option --{name}")
        value = _value(text)
        if isinstance(defaults[name], int | float) and isinstance(value, str | list):
            raise SettingError(f"--set {pair!r}: {name} takes a number, as in {name}={defaults[name]}")
        found[name] = tuple(value) if isinstance(value, list) else value
    return found


def _value(text: str) -> Any:
    """A value as people type it: JSON, where it is; None; else the text itself."""
    try:
        return json.loads(text.lower())
    except ValueError:
        return None if text.lower() == "none" else text


class BareBudget(TyperCommand):
    """A command whose `--budget` may have no value. That is the same as leaving it out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments after removing a `--budget` without a number. Typer has no optional values."""
        return super().parse_args(ctx, without_bare(args, "--budget"))


def without_bare(args: Sequence[str], option: str) -> list[str]:
    """The arguments without an option that no number follows.

    >>> without_bare(["--budget", "posts.csv", "--budget", "9", "--budget"], "--budget")
    ['posts.csv', '--budget', '9']
    """
    following = [*args[1:], ""]
    return [
        arg for arg, value in zip(args, following, strict=False) if arg != option or re.fullmatch(r"-?[\d.,]+", value)
    ]


def parse_size(text: str, option: str = "--memory") -> int:
    """The number of bytes in a text such as 4GiB, 512MiB or 2GB.

    >>> parse_size("4GiB"), parse_size("500 MB")
    (4294967296, 500000000)
    """
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])(i?)B?\s*", text, re.IGNORECASE)
    if parts is None:
        raise SettingError(f"{option} {text!r}: give a number and a unit, as in 4GiB or 800MB")
    power = "KMGT".index(parts[2].upper()) + 1
    return int(float(parts[1]) * (1024 if parts[3] else 1000) ** power)
