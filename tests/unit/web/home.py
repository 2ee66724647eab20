"""A home with monitors as the studio shows them: one with a past, one that has just been made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from klda.advice.explanation import Example, Reason
from klda.advice.proposal import Proposal
from klda.monitor.calendar import close
from klda.monitor.create import create
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.window_topics import learn_topics
from klda.posts.schema import to_batch
from klda.store import RecordedGap
from klda.types import Estimate, Keyword, KeywordSet, Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)
WEEKS = 5
NOW = MONDAY + WEEKS * WEEK - timedelta(days=2)
TALK = {
    "hospital": "ward nurses beds waiting surgery shift emergency corridor queue",
    "doctor": "appointment phone clinic morning referral letter patients practice",
    "vaccine": "dose booster trial side effects rollout shots clinic appointment",
}


def make_home(home: Path, attacks: Sequence[str] = ()) -> Path:
    """The home; with attacks, every text that strangers or people could have written carries one."""
    evil = _evil(attacks)
    values = {"subject": evil("health"), "keywords": ["hospital", "doctor"], "source": "jetstream", "sample": 0.0}
    values |= {"budget": {"max_keywords": 10}}
    create(home, "health", MonitorSettings.of(values), created_by="ann", clock=lambda: MONDAY)
    with opened(home, "health", clock=lambda: NOW) as monitor:
        _collect(monitor, evil)
        _decide(monitor, evil)
        close(monitor)
        learn_topics(monitor)
        _jobs(monitor, evil)
        monitor.records.journal.add_gap(RecordedGap("jetstream", MONDAY, MONDAY + timedelta(hours=3), evil("asleep")))
    quiet = {"subject": "nothing yet", "keywords": ["quiet"], "source": "jetstream"}
    create(home, "quiet", MonitorSettings.of(quiet), created_by="ann")
    return home


def _evil(attacks: Sequence[str]) -> Callable[[str], str]:
    storable = [attack for attack in attacks if attack.encode(errors="ignore").decode() == attack]
    given = iter(range(1_000_000))

    def evil(text: str) -> str:
        return f"{text} {storable[next(given) % len(storable)]}" if storable else text

    return evil


def _collect(monitor: Monitor, evil: Callable[[str], str]) -> None:
    generator, store = np.random.default_rng(0), monitor.posts()
    for week in range(WEEKS):
        posts, keywords = [], []
        for number in range(90):
            active = list(TALK)[: 2 if week < 2 else 3]
            carried = list(generator.choice(active, size=generator.integers(1, 3), replace=False))
            words = [w for k in carried for w in generator.choice(TALK[k].split(), size=4, replace=False)]
            time = MONDAY + week * WEEK + timedelta(minutes=float(generator.uniform(0, 7000)))
            text = evil(f"{' '.join(carried)} {' '.join(words)} https://example.org/{number}")
            posts.append(Post(id=f"{week}-{number}", time=time, text=text, author=f"author {number}"))
            keywords.append(carried)
        store.append(to_batch(posts), keywords, source="jetstream", batch=week + 1, cursor=str(week))
    monitor.records.volume.catch_up(store)


def _decide(monitor: Monitor, evil: Callable[[str], str]) -> None:
    records, hospital = monitor.records, Keyword("hospital")
    why = evil("brings dose, booster; loses nothing above 0.1 %; about 60 posts a week")
    vaccine = Reason(
        Keyword("vaccine", ("vaccine", "vaccines")),
        "add",
        why,
        expected_posts=Estimate(60, 40, 90),
        examples=(Example("2-1", evil("the vaccine rollout")),),
    )
    records.keywords.switch(
        KeywordSet.of("hospital", "doctor", vaccine.keyword),
        decided_by=evil("bob"),
        reasons={"vaccine": why},
        at=MONDAY + 2 * WEEK,
    )
    for week in range(2, WEEKS):
        expected = {"hospital": Estimate(50, 40, 70), "doctor": Estimate(20, 10, 25), "vaccine": Estimate(60, 40, 90)}
        records.keywords.expect(MONDAY + week * WEEK, expected)
    proposal = Proposal(
        policy="static",
        current=records.keywords.active(),
        keep=records.keywords.active(),
        reasons=(Reason(hospital, "keep", evil("stays")), vaccine),
        window=(MONDAY + WEEKS * WEEK).isoformat(),
    )
    records.proposals.save(proposal, flags=[evil("vaccine: 40% of its posts come from one author")])


def _jobs(monitor: Monitor, evil: Callable[[str], str]) -> None:
    jobs = monitor.records.jobs
    failed, running = jobs.add("propose"), jobs.add("backtest")
    jobs.report(failed, "training", 3, 10)
    jobs.finish(failed, error=evil("the disk is full; make room and start again"))
    jobs.report(running, evil("windows"), 3, 12)
