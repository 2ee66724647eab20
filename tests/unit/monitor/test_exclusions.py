"""A monitor whose list has exclusions and queries: what it stores, proposes, remembers and sends to platforms."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from klda.errors import DataError, SettingError
from klda.monitor.calendar import close
from klda.monitor.collect import collect
from klda.monitor.decide import approve, edit
from klda.monitor.history import history
from klda.monitor.monitor import Monitor
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.overview import yields
from klda.monitor.propose import propose
from klda.monitor.rules import rules
from klda.types import KeywordSet
from tests.unit.monitor.conftest import Make, Scripted, gathered, received, row, stored, weeks

LIST = ["hospital", "doctor AND (nurse OR ward)", "-shift"]


@pytest.fixture
def collected(make: Make) -> Iterator[Monitor]:
    with make(weeks(3), keywords=LIST, policy="counting", sample=0) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        yield monitor


def test_a_post_with_an_excluded_word_is_not_stored(make: Make) -> None:
    with make(keywords=LIST, sample=0) as monitor:
        texts = ["the hospital", "hospital shift", "a doctor", "doctor in the ward", "doctor, ward, shift"]
        gathered(monitor, Scripted(received(*(row(str(i), text) for i, text in enumerate(texts)))))
        assert stored(monitor) == ["0", "3"]


def test_a_proposal_keeps_the_exclusions_and_its_forecast_heeds_them(collected: Monitor) -> None:
    assert not [post for post in stored(collected) if int(post.split("-")[1]) % 10 == 6]  # those say "shift"
    close(collected)
    saved = propose(collected)
    assert "-shift" in saved.proposal.next_keywords.texts
    approve(collected, decided_by="ann")
    assert "-shift" in collected.records.keywords.active().texts


def test_history_tells_since_when_an_exclusion_holds_and_counts_no_posts_for_it(collected: Monitor) -> None:
    close(collected)
    propose(collected)
    edit(collected, KeywordSet.of("hospital", "-shift", "-bed"), decided_by="ann", note="shifts are about work")
    [story] = history(collected, "-bed")
    assert story.is_active
    assert story.spans[0].reason == "shifts are about work"
    assert all(window.realised is None for window in story.windows)
    assert [one.keyword for one in yields(collected)] == ["hospital"]


def test_a_list_of_exclusions_alone_is_refused(collected: Monitor) -> None:
    with pytest.raises(SettingError, match="exclusions alone"):
        MonitorSettings.of({"subject": "health", "keywords": ["-shift"], "source": "jetstream"})
    close(collected)
    propose(collected)
    with pytest.raises(DataError, match="collect nothing"):
        edit(collected, KeywordSet.of("-shift"), decided_by="ann")


def test_a_query_that_cannot_be_read_is_refused_with_the_settings() -> None:
    with pytest.raises(SettingError, match=r"klda.toml: a parenthesis is not closed(.|\n)*\^"):
        MonitorSettings.of({"subject": "health", "keywords": ["doctor AND (ward"], "source": "jetstream"})


def test_rules_of_a_monitor_have_its_exclusions_and_queries(make: Make) -> None:
    with make(keywords=LIST, source="x") as monitor:
        [rule] = rules(monitor).requests[0]["add"]
        assert rule["value"] == "((doctor (nurse OR ward)) OR hospital) -shift"
        pasted = rules(monitor, "brandwatch").requests[0]["query"]
        assert pasted == "(hospital OR (doctor AND (nurse OR ward))) NOT shift"
