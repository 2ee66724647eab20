from __future__ import annotations

import ctypes

import pytest

from klda.monitor.memory import give_back, share_arenas


def test_it_is_harmless_at_any_time() -> None:
    share_arenas()
    give_back()
    give_back()


def test_a_c_library_that_has_no_such_calls_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    share_arenas()
    give_back()
