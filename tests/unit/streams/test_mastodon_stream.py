"""Where a run on several timelines resumes."""

from __future__ import annotations

from klda.streams.mastodon_stream import Listening, Mastodon


def test_a_timeline_that_is_down_holds_the_cursor_where_it_was() -> None:
    listening = Listening(Mastodon("https://example.org", timeline="hashtag"), "1767607200000000/109")
    assert listening.cursor.endswith("/109")
    listening.down("flu", 1_767_607_300_000_000, "120")
    listening.last = "200"  # another timeline goes on
    assert listening.cursor == "1767607300000000/120"
    listening.up("flu")
    heard, _, last = listening.cursor.partition("/")
    assert (int(heard) > 1_767_607_300_000_000, last) == (True, "200")


def test_a_run_that_has_heard_nothing_yet_resumes_from_now() -> None:
    assert Listening(Mastodon("https://example.org", timeline="hashtag"), None).cursor.endswith("/")
