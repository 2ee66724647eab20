"""History shows every window in which a keyword was active."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from klda.monitor.collect import collect
from klda.monitor.history import history
from klda.types import KeywordSet
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, weeks


def test_each_week_of_a_keyword_is_shown_with_what_it_brought(make: Make) -> None:
    with make(weeks(4)) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        monitor.records.keywords.switch(KeywordSet.of("hospital", "ward"), decided_by="ann", at=MONDAY + 2 * WEEK)
        stories = {story.keyword: story for story in history(monitor)}
        starts = {name: [window.start for window in story.windows] for name, story in stories.items()}
        every = [MONDAY + n * WEEK for n in range(4)]
        assert starts["hospital"][:4] == every
        assert starts["doctor"] == every[:2], "it went at the end of the second week"
        assert starts["ward"][:2] == every[2:]
        assert [window.realised for window in stories["hospital"].windows[:4]] == [40] * 4
        assert all(window.expected is None for window in stories["hospital"].windows)
        plain = stories["doctor"].to_dict()["windows"]
        assert plain == [{"window": start.isoformat(), "expected": None, "realised": 0} for start in every[:2]]


def test_a_keyword_that_went_within_a_week_was_active_in_it(make: Make) -> None:
    with make(weeks(2)) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        later = MONDAY + WEEK + timedelta(days=2)
        monitor.records.keywords.switch(KeywordSet.of("hospital"), decided_by="ann", at=later)
        (story,) = history(monitor, "doctor")
        assert [window.start for window in story.windows] == [MONDAY, MONDAY + WEEK]
