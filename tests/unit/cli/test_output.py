from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from klda.cli import output as progress


def test_training_shows_stage_bound_temperature_and_time_left(monkeypatch: pytest.MonkeyPatch):
    screen = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=screen, force_terminal=True, width=160, color_system=None))
    with progress.progress_bar() as report:
        for done in (1, 50, 100):
            report("training", done, 200, bound=-7.1234, temperature=0.99)
    shown = screen.getvalue()
    assert re.search(r"training .* 100/200 bound -7\.123 temperature 0\.99 \d:\d\d:\d\d [\d-]:[\d-]+:[\d-]+", shown)


def test_nothing_is_drawn_where_nobody_watches(monkeypatch: pytest.MonkeyPatch):
    screen = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=screen, force_terminal=False))
    with progress.progress_bar() as report:
        report("training", 1, 2, bound=-7.0)
    assert not screen.getvalue()
