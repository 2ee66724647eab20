from __future__ import annotations

import asyncio
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from klda.monitor.calendar import ByEventTime
from klda.posts.schema import PostTable
from klda.streams import Burst, Received
from klda.streams.replay import Replay
from klda.text.windows import Windowing
from klda.types import Post, Window
from tests.unit.monitor.conftest import MONDAY


def replayed(days: list[float], cursor: str | None = None) -> list[tuple[Window | None, Burst]]:
    """Every burst of a replay of posts on these days, with the window that the replay had reached."""
    posts = PostTable.of(Post(str(i), MONDAY + timedelta(days=day), "text") for i, day in enumerate(days))

    async def read() -> list[tuple[Window | None, Burst]]:
        source = ByEventTime(Replay(posts), Windowing("1d"))
        return [(source.window, burst) async for burst in source.bursts(cursor)]

    return asyncio.run(read())


def ids(bursts: list[tuple[Window | None, Burst]]) -> list[int]:
    return [int(event.row.id) for _, burst in bursts for event in burst.events if isinstance(event, Received)]


def test_an_empty_burst_comes_before_the_posts_of_each_window() -> None:
    shape = [
        (str(window), len(burst.events), (burst.cursor or "").split()[0])
        for window, burst in replayed([0, 0.5, 1, 1.2, 3])
    ]
    assert shape == [
        ("2026-01-05", 0, "0"),
        ("2026-01-05", 2, "2"),
        ("2026-01-06", 0, "2"),
        ("2026-01-06", 2, "4"),
        ("2026-01-08", 0, "4"),
        ("2026-01-08", 1, "5"),
    ]


def test_one_post_with_a_wrong_clock_opens_no_window() -> None:
    windows = {str(window) for window, _ in replayed([0, 0.1, 400, 0.2, 0.3, 1, 1.1])}
    assert windows == {"2026-01-05", "2026-01-06"}


def test_a_late_post_does_not_turn_the_clock_back() -> None:
    bursts = replayed([0, 1, 1.1, 0.5, 1.2])
    assert [str(window) for window, burst in bursts if not burst.events] == ["2026-01-05", "2026-01-06"]
    assert ids(bursts) == [0, 1, 2, 3, 4]


@given(st.lists(st.floats(0, 20), min_size=1, max_size=40), st.data())
def test_every_cursor_leads_to_exactly_the_posts_behind_it(days: list[float], data: st.DataObject) -> None:
    bursts = replayed(days)
    assert ids(bursts) == list(range(len(days)))
    at = data.draw(st.integers(0, len(bursts) - 1))
    before = ids(bursts[: at + 1])
    assert ids(replayed(days, bursts[at][1].cursor)) == list(range(len(before), len(days)))
