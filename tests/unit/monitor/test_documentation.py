from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

from klda.cli.monitor import monitor
from klda.monitor.monitor_settings import BudgetSettings, CandidateSettings, MonitorSettings, StorageSettings
from klda.streams import SOURCES

NOT_FOR_SETTINGS = {"backoff", "adjacent", "owner"}
"""What tests give, and what follows from the monitor."""
DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "reference" / "monitor-settings.md").read_text(encoding="utf-8")


def test_every_setting_is_documented_with_its_default() -> None:
    for name, field in MonitorSettings.model_fields.items():
        line = re.search(rf"^\| `{name}` \|.*$", PAGE, re.MULTILINE)
        assert line, f"{name} is not documented"
        default = field.default
        if isinstance(default, str | int | float):
            shown = str(default).lower() if isinstance(default, bool) else repr(default).replace("'", '"')
            assert f"`{shown}`" in line[0], f"{name}: the documented default is not {default!r}"
    for table in (BudgetSettings, CandidateSettings, StorageSettings):
        for name in table.model_fields:
            assert f"`{name}`" in PAGE, name


def test_every_option_of_a_source_is_documented_with_its_default() -> None:
    [section] = re.findall(r"## Options of sources\n(.*?)\nValues of", PAGE, re.DOTALL)
    kind, shown = "", {}
    for first, option, default in re.findall(
        r"^\| (?:`(\w+)` )?\| `(\w+)` \|.*\| (?:`(.*)`)? ?\|$", section, re.MULTILINE
    ):
        kind = first or kind
        shown[kind, option] = tomllib.loads(f"it = {default}")["it"] if default else None
    there = {
        (kind, name): None if parameter.default is parameter.empty else parameter.default
        for kind, source in SOURCES.items()
        for name, parameter in inspect.signature(source).parameters.items()
        if name not in NOT_FOR_SETTINGS | {"only_outside"}
    }
    assert shown == there


def test_the_example_settings_hold() -> None:
    for example in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        assert MonitorSettings.of(tomllib.loads(example)).approval == "auto"


def test_every_command_is_mentioned() -> None:
    text = (DOCS / "how-to" / "monitor.md").read_text(encoding="utf-8")
    for command in monitor.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        assert name == "list" or re.search(rf"klda monitor {name}|`{name}`|{name} --keywords", text), name
