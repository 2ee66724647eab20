"""Sources by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from klda.errors import SettingError
from klda.simulation import World
from klda.streams import SOURCES, Source, source_of
from klda.streams.folder import Folder
from klda.streams.jetstream import Jetstream
from klda.streams.replay import Replay


def test_a_kind_an_address_and_a_table_of_options_all_lead_to_a_source(tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text('{"id": 1, "time": "2026-01-05T10:00:00Z", "text": "x"}\n')
    assert isinstance(source_of("jetstream"), Jetstream)
    assert isinstance(source_of(f"folder:{tmp_path}"), Folder)
    assert isinstance(source_of({"kind": "folder", "path": str(tmp_path), "every": "0.5"}), Folder)
    assert isinstance(source_of({"kind": "replay", "posts": str(tmp_path), "speed": 60}), Replay)
    assert isinstance(source_of({"kind": "replay", "posts": World(weeks=1, posts_per_week=10)}), Replay)
    assert source_of({"kind": "mastodon", "address": "https://a.org", "timeline": "hashtag"}).name == "mastodon a.org"
    assert "version=" not in source_of({"kind": "jetstream", "server": "ws://localhost:1", "version": 2}).name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("telegram", "not known"),
        ({"server": "x"}, "not known"),
        ({"kind": "jetstream", "sevrer": "wss://x"}, "sevrer"),
        ({"kind": "jetstream", "version": 3}, "version"),
        ({"kind": "jetstream", "step_back": "long"}, "step_back"),
        ({"kind": "jetstream", "step_back": -1}, "step_back"),
        ("jetstream:https://example.org", "write the address of a"),
        ("mastodon:mastodon.social", "write the address of a"),
        ({"kind": "mastodon", "timeline": "home"}, "timeline"),
        ({"kind": "x", "backfill_minutes": 9}, "backfill_minutes"),
        ({"kind": "folder"}, "path"),
        ("folder:/no/such/folder", "no such folder"),
        ({"kind": "folder", "path": "/", "date_format": "%H:%M"}, "date_format"),
        ({"kind": "folder", "path": "/", "timezone": "Mars"}, "Mars"),
        ({"kind": "jetstream", "date_format": "%d/%m/%Y"}, "no option 'date_format'"),
    ],
)
def test_wrong_settings_are_named(settings: object, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        source_of(settings)  # type: ignore[arg-type]


def test_every_source_says_whether_it_can_replay_and_whether_it_brings_everything(tmp_path: Path) -> None:
    addresses = {"folder": f":{tmp_path}", "replay": f":{tmp_path}"}
    (tmp_path / "posts.jsonl").write_text("")
    sources: dict[str, Source] = {kind: source_of(kind + addresses.get(kind, "")) for kind in SOURCES}
    assert {kind for kind, source in sources.items() if source.replayable} == {"jetstream", "kafka", "folder", "replay"}
    assert {kind for kind, source in sources.items() if not source.unfiltered} == {"x"}
