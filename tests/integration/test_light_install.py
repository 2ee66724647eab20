"""The wheel is whole, and asks for all that it needs.

What this proves: the wheel holds every file of the package (templates, scripts, vendored libraries, coefficients). The
packages that it asks for without an extra are enough for help, simulation, advice, a report and rules. They are links
to those of this environment, so that nothing is fetched. That pip finds and installs them from an index, in the
versions of `constraints.txt`, is what `make wheel` shows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.light_install import ROOT, build, check, files_in, linked


@pytest.mark.slow
def test_the_wheel_works_without_extras(tmp_path: Path) -> None:
    wheel = build(tmp_path / "dist")
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "klda").rglob("*") if path.is_file()}
    assert files_in(wheel) == {name for name in files if "__pycache__" not in name}
    assert {"klda/advice/relevance.json", "klda/py.typed", "klda/report/templates/report.html"} <= files_in(wheel)
    assert {name.split("/")[2] for name in files_in(wheel) if name.startswith("klda/web/")} >= {"static", "templates"}
    check(linked(wheel, tmp_path / "environment"), tmp_path / "tried")
