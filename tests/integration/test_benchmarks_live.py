"""The benchmarks of live collecting, on small streams: what they show of a full one, they show of these."""

from __future__ import annotations

import asyncio
import shutil
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.crash import judged, trial
from benchmarks.ingest import MANY, keyword_lists, measure
from benchmarks.loopback import DISTINCT, Commits, keywords_for, matching, simulated
from benchmarks.mishaps import Stream, Swapping
from benchmarks.readers import PATHS
from benchmarks.web import benchmark

POSTS = 12_000


def check(facts: dict[str, Any]) -> None:
    """Nothing is doubled or invented, and the counts agree with the table."""
    assert facts["posts"] == POSTS
    assert facts["duplicated"] == facts["unexpected"] == 0
    assert facts["counted"] == facts["stored"] > 0
    assert facts["commits"] > 0


@pytest.mark.slow
def test_a_collector_killed_five_times_loses_and_doubles_nothing() -> None:
    facts = asyncio.run(trial(POSTS, 5, seed=1))
    check(facts)
    assert facts["kills"] == 5
    assert facts["lost"] == 0
    assert facts["stored"] == facts["matched"]


@pytest.mark.slow
def test_changing_keywords_while_it_is_killed_misses_nothing_that_was_asked_for_all_along() -> None:
    facts = asyncio.run(trial(POSTS, 2, seed=2, swapping=True))
    check(facts)
    assert facts["kills"] == 2
    assert facts["swaps"] > 0
    assert facts["stored"] >= facts["due"] > facts["due_for_changing"] > 0
    assert facts["missed_in_swap"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("mounts", [True, False])
def test_a_disk_that_is_full_once_is_a_clear_error_and_costs_no_post(
    mounts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not mounts:
        monkeypatch.setattr(shutil, "which", lambda _: None)
    facts = asyncio.run(trial(POSTS, 1, seed=3, full=True))
    check(facts)
    assert facts["lost"] == 0
    assert facts["error"].startswith("error: ")
    assert "again" in facts["error"], "it says what to do"
    assert mounts or facts["disk"] == "a limit on the size of files"


@pytest.mark.slow
def test_ingesting_is_measured_from_the_stream_to_the_table() -> None:
    few, _ = keyword_lists()
    found = measure(POSTS, few)
    assert found.posts_per_second > 0
    assert round(found.memory_peak, 1) >= max(found.memory)  # which are rounded so
    assert len(found.memory) == len(found.memory_held) == 10
    assert all(0 < held < resident for held, resident in zip(found.memory_held, found.memory, strict=True))
    assert found.share == pytest.approx(0.2, abs=0.02)


@pytest.mark.slow
def test_the_studio_answers_readers_while_a_collector_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.studio_home._TEXTS_A_WEEK", 300)  # more than so few posts need
    found = benchmark(5_000, 5, readers=4, pace=2_000)
    assert found["requests"] == 20
    assert found["errors"] == 0, found["first_errors"]
    assert 0 < found["p50_ms"] <= found["p99_ms"]
    assert found["posts_per_second"] > 0
    assert set(found["p99_ms_of"]) <= set(PATHS)


def test_few_and_many_keywords_match_about_a_fifth_of_the_posts() -> None:
    texts = [post.text for post in simulated()]
    few, many = keyword_lists()
    assert len(set(many)) == MANY
    assert matching(texts, few).mean() == pytest.approx(0.2, abs=0.02)
    assert matching(texts, many).mean() == pytest.approx(0.2, abs=0.04)


def test_a_post_has_passed_with_the_first_commit_whose_cursor_lies_behind_it() -> None:
    commits = Commits(np.array([10.0, 20.0]), np.array([2, 5]))
    assert commits.passed(5).tolist() == [10, 10, 20, 20, 20]


def test_what_is_missing_doubled_or_invented_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [post.text for post in simulated()]
    [word, other] = keywords_for(texts, 2, 0.1)
    carrying = np.flatnonzero(matching(texts, [word])).tolist()
    stream = Stream(DISTINCT)
    stream.first_sent[:] = 1.0
    rows = {number: [{word}] for number in carrying[2:]}
    rows[carrying[2]] *= 2
    stranger = next(number for number in range(DISTINCT) if number not in carrying)
    rows[stranger] = [{word}]
    monkeypatch.setattr("benchmarks.crash.stored", lambda _, sample=False: {} if sample else rows)
    monkeypatch.setattr(Commits, "of", lambda _: Commits(np.array([2.0]), np.array([DISTINCT])))
    monkeypatch.setattr("benchmarks.crash.torn_files", lambda _: 0)
    monitor: Any = SimpleNamespace(records=SimpleNamespace(volume=SimpleNamespace(total=lambda: 0)))
    facts = judged(monitor, texts, stream, Swapping([word], []), swapping=False)
    assert (facts["lost"], facts["duplicated"], facts["unexpected"]) == (2, 1, 1)
    changing = Swapping([other], [])
    changing.spans.append((word, 0.5, 1.5))
    assert judged(monitor, texts, stream, changing, swapping=True)["due_for_changing"] == 0, "it left before the commit"
    changing.spans.append((word, 0.5, 2.5))
    before = len(np.flatnonzero(matching(texts, [other])))
    demanded = judged(monitor, texts, stream, changing, swapping=True)
    assert demanded["due_for_changing"] == len(carrying)
    assert demanded["missed_in_swap"] >= max(2, before - 1), "two of the one, and nearly all of the other"
