"""Records in a PostgreSQL that is restarted while they are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event, Thread

import pytest

from klda.advice.proposal import Proposal
from klda.errors import StoreError
from klda.store import Database, RecordedGap, Records
from klda.types import KeywordSet
from tests.unit.store import postgres

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


server = pytest.fixture(postgres.running)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_writing_goes_on_after_a_restart_and_nothing_is_lost_or_doubled(server: postgres.Server, mode: str) -> None:
    records = Records(server.address, "health")
    restarted, written = Event(), []

    def write() -> None:
        n = 0
        while not restarted.is_set() or n < 50:
            records.journal.note("collector", "batch", str(n))
            records.journal.add_gap(RecordedGap("stream", MONDAY + timedelta(seconds=n), MONDAY + timedelta(days=1)))
            written.append(str(n))
            n += 1

    writer = Thread(target=write)
    writer.start()
    while len(written) < 20:
        pass
    server.stop(mode)
    server.start()
    restarted.set()
    writer.join()
    noted = [entry.subject for entry in records.journal.entries(limit=100_000)]
    assert sorted(noted, key=int) == written
    assert len(records.journal.gaps()) == len(written)
    records.close()


def test_a_decision_made_while_the_server_is_away_is_made_once(server: postgres.Server) -> None:
    records = Records(server.address, "health")
    current = KeywordSet.of("health")
    name = records.proposals.save(Proposal(policy="static", current=current, keep=current))
    server.stop()
    back = Thread(target=server.start)
    decider = Thread(target=lambda: records.proposals.decide(name, "approve", decided_by="ann"))
    decider.start()
    back.start()
    decider.join()
    back.join()
    assert records.proposals.get(name).state == "approved"
    assert [entry.action for entry in records.journal.entries()] == ["approve"]
    records.close()


def test_a_server_that_stays_away_is_a_clear_error(server: postgres.Server) -> None:
    records = Records(Database(server.address, patience=1.0), "health")
    server.stop()
    with pytest.raises(StoreError, match="the database does not answer"):
        records.journal.note("ann", "create")
    records.close()
    with pytest.raises(StoreError, match="the database does not answer"):
        Records(server.address, "health")
    server.start()
