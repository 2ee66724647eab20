from __future__ import annotations

from pathlib import Path

import pytest

from klda.errors import StoreError
from klda.store.delta.pseudonyms import Pseudonyms


def test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    first, again = Pseudonyms.open(tmp_path / "key"), Pseudonyms.open(tmp_path / "key")
    other = Pseudonyms.open(tmp_path / "other")
    assert first.of("ann") == again.of("ann") != other.of("ann")
    assert first.of("ann") != first.of("bob")
    assert len(first.of("ann")) == 32
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"key", "other"}


@pytest.mark.parametrize("content", ["", "not a key", "abcd"])
def test_a_damaged_key_is_never_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(StoreError, match="key"):
        Pseudonyms.open(tmp_path / "key")
    assert (tmp_path / "key").read_text() == content


def test_a_key_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        Pseudonyms.open(tmp_path / "nowhere" / "key")
