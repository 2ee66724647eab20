from __future__ import annotations

import asyncio

from klda.advice.explanation import Reason
from klda.advice.proposal import Proposal
from klda.monitor.calendar import close, closed
from klda.monitor.collect import collect
from klda.monitor.propose import with_forecast
from klda.monitor.training_data import FEWEST_SAMPLED, learning
from klda.posts.formats.outcome import Row
from klda.types import Estimate, Keyword, KeywordSet
from tests.unit.monitor.conftest import Make, row


def stream(n: int) -> list[Row]:
    """Two weeks: one post in four has a current keyword, and every other one the word `redlung`."""
    return [
        row(
            f"{week}-{i}",
            f"{'hospital' if i % 4 == 0 else 'elsewhere'} {'redlung' if i % 2 == 0 else 'calm'} {i}",
            week=week + i / (n + 1),
        )
        for week in (0, 1)
        for i in range(n)
    ]


def reason(posts: float) -> Reason:
    said = {"text": "Brings much.", "volume": "About 3 posts a week."}
    return Reason(Keyword("redlung"), "add", **said, expected_posts=Estimate(posts, 1, 5))


def test_the_sample_shows_what_the_filter_missed(make: Make) -> None:
    with make(stream(400), sample=0.25) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        close(monitor)
        known = learning(monitor, closed(monitor)[-1])
        assert known.sample is not None
        assert known.n_collected == 200
        current, new = KeywordSet.of("hospital"), KeywordSet.of("redlung")
        made = with_forecast(Proposal("static", current, keep=current, add=new, reasons=(reason(3.0),)), known)
        [changed] = made.reasons
        assert changed.expected_posts is not None
        assert 150 < changed.expected_posts.mean < 250, "of 200 posts a week only 100 were collected"
        assert (changed.text, "About 3 posts" in changed.volume) == ("Brings much.", False)
        assert made.expected_posts is not None
        assert abs(made.expected_posts.mean - changed.expected_posts.mean) < 1


def test_each_post_is_learnt_from_once(make: Make) -> None:
    with make(stream(400), sample=0.25) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        close(monitor)
        ids = learning(monitor, closed(monitor)[-1]).corpus.posts.column("id").to_pylist()
        assert len(set(ids)) == len(ids) > 200


def test_without_a_sample_the_forecast_stays_as_it_was(make: Make) -> None:
    with make(stream(FEWEST_SAMPLED // 2), sample=0.0) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        close(monitor)
        known = learning(monitor, closed(monitor)[-1])
        assert known.sample is None
        made = Proposal("static", KeywordSet.of("hospital"), add=KeywordSet.of("redlung"), reasons=(reason(3.0),))
        assert with_forecast(made, known) == made


def test_a_corpus_knows_the_list_of_each_of_its_windows(make: Make) -> None:
    with make(stream(40)) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        close(monitor)
        first, second = closed(monitor)
        monitor.records.keywords.switch(KeywordSet.of("hospital", "calm"), decided_by="ann", at=second.start)
        history = learning(monitor, second).corpus.history
        assert [keywords.texts for keywords in history] == [("hospital", "doctor"), ("hospital", "calm")]
        assert learning(monitor, first).corpus.n_windows == 1
