from __future__ import annotations

from pathlib import Path

import pytest

from klda.errors import InputError, SettingError, StoreError
from klda.store import create_monitor, list_monitors, open_monitor
from klda.text.windows import Windowing
from tests.unit.store.conftest import posts


def test_a_monitor_is_made_opened_and_listed(tmp_path: Path) -> None:
    assert list_monitors(tmp_path / "nothing yet") == []
    home = tmp_path / "home"
    create_monitor(home, "zika", "a = 1")
    create_monitor(home, "health", "a = 2")
    (home / "stray").mkdir()
    assert [monitor.name for monitor in list_monitors(home)] == ["health", "zika"]
    assert open_monitor(home, "health").settings.read_text() == "a = 2"
    with pytest.raises(InputError, match="exists already"):
        create_monitor(home, "zika", "")
    with pytest.raises(InputError, match=r"'flu' is not in .* \(there: health, zika\)"):
        open_monitor(home, "flu")


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", ".hidden", "A", "a\n", "a" * 64, "é"])
def test_a_name_never_leads_out_of_the_home(tmp_path: Path, name: str) -> None:
    for use in (lambda: create_monitor(tmp_path, name, ""), lambda: open_monitor(tmp_path, name)):
        with pytest.raises(SettingError, match="monitor name"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_its_folder_holds_posts_records_key_and_lock(tmp_path: Path) -> None:
    monitor = create_monitor(tmp_path, "health", "")
    with monitor.writer():
        assert monitor.being_written
        store = monitor.posts(Windowing(), pseudonymise=True)
        store.append(posts("a"), [["m"]], source="s", batch=1, cursor="1")
        records = monitor.records()
        records.volume.catch_up(store)
        assert records.volume.total() == 1
        with pytest.raises(StoreError, match="is writing here"), monitor.writer():
            pass
        records.close()
    assert not monitor.being_written
    assert {path.name for path in monitor.path.iterdir()} >= {"klda.toml", "posts", "state.db", "models", "key", "lock"}
    assert (monitor.path / "key").stat().st_mode & 0o777 == 0o600


def test_posts_may_lie_elsewhere(tmp_path: Path) -> None:
    monitor = create_monitor(tmp_path / "home", "health", "")
    store = monitor.posts(Windowing(), uri=(tmp_path / "elsewhere").as_uri())
    store.append(posts("a"), [["m"]], source="s", batch=1, cursor="1")
    assert not (monitor.path / "posts").exists()
    assert len(store.read()) == 1
