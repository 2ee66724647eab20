from __future__ import annotations

import re
from hashlib import sha256
from importlib.resources import files

from klda.web.assets import assets, digest

VENDORED = (files("klda.web") / "static" / "vendor", files("klda.report") / "vendor")


def test_every_vendored_file_is_listed_with_its_hash_and_has_a_licence() -> None:
    every = set()
    for folder in VENDORED:
        listed = dict(
            re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", (folder / "README.md").read_text(), re.MULTILINE)
        )
        every |= set(listed)
        for name, expected in listed.items():
            assert sha256((folder / name).read_bytes()).hexdigest() == expected, name
            assert (folder / name.partition("/")[0] / "LICENSE").is_file(), name
    assert every == {name.removeprefix("vendor/") for name in assets() if name.startswith("vendor/")}


def test_no_file_of_ours_loads_anything_from_elsewhere() -> None:
    for name, asset in assets().items():
        if not name.startswith("vendor/"):
            assert not re.search(rb"https?://(?!www\.w3\.org)", asset.body), name
    for template in (files("klda.web") / "templates").iterdir():
        assert not re.search(r"(src|href)=\"(https?:)?//", template.read_text()), template.name


def test_scripts_of_ours_neither_evaluate_nor_write_markup() -> None:
    for name, asset in assets().items():
        if name.endswith(".js") and not name.startswith("vendor/"):
            assert not re.search(rb"\beval\(|new Function|innerHTML|outerHTML\s*=|document\.write", asset.body), name


def test_the_address_changes_with_the_content() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", digest())
