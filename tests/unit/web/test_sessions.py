"""Sessions: they end, cannot be made up, and say nothing about their key."""

from __future__ import annotations

from klda.web.sessions import COOKIE, LIFE, Sessions


def test_sessions_end_and_cannot_be_made_up() -> None:
    time = [0.0]
    sessions = Sessions(clock=lambda: time[0])
    session = sessions.new("ann")
    assert Sessions().read(session.text) is None
    assert sessions.read(session.text.replace(".", ".0", 1)) is None
    for text in ("", ".", "...", "a.b.c.d"):
        assert sessions.read(text) is None
    time[0] = LIFE + 1.0
    assert sessions.read(session.text) is None


def test_ended_sessions_are_forgotten_when_they_would_be_over() -> None:
    time = [0.0]
    sessions = Sessions(clock=lambda: time[0])
    sessions.end(sessions.new("ann"))
    time[0] = LIFE + 1.0
    sessions.end(sessions.new("bob"))
    assert len(sessions._ended) == 1


def test_the_cookie_says_nothing_about_its_key() -> None:
    sessions = Sessions()
    assert sessions.key.hex() not in sessions.new("ann").text
    assert COOKIE == "klda_session"
