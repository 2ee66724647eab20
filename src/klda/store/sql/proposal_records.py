"""Proposals, and the decisions about them by people or by automatic approval."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Select, insert, select, update

from klda.advice.proposal import Proposal
from klda.errors import DataError, SettingError, StoreError
from klda.store.sql import sql_tables
from klda.store.sql.database import Database
from klda.store.sql.journal import AuditEntry, Journal
from klda.store.sql.sql_tables import new_id
from klda.types import Keyword, KeywordSet

State = Literal["waiting", "approved", "edited", "rejected", "superseded"]
Verdict = Literal["approve", "edit", "reject"]

_STATE_AFTER: Mapping[str, State] = {"approve": "approved", "edit": "edited", "reject": "rejected"}


@dataclass(frozen=True)
class Decision:
    """A decision about a proposal, and the resulting keywords."""

    verdict: Verdict
    decided_by: str
    made: datetime
    keywords: KeywordSet
    note: str = ""


@dataclass(frozen=True)
class SavedProposal:
    """A proposal in the store."""

    id: str
    proposal: Proposal
    made: datetime
    state: State
    flags: tuple[str, ...] = ()
    """The reasons against automatic approval, if any."""
    model: str | None = None
    decision: Decision | None = None


@dataclass(frozen=True)
class Proposals:
    """The proposals of one monitor."""

    database: Database
    monitor: str
    clock: Callable[[], datetime]
    journal: Journal

    def save(self, proposal: Proposal, *, flags: Sequence[str] = (), model: str | None = None) -> str:
        """The id of a proposal, which is stored and waits for a decision; it supersedes an earlier one that waits."""
        name, now = new_id(), self.clock()
        t = sql_tables.proposals
        row = {"id": name, "monitor": self.monitor, "made": now, "policy": proposal.policy, "body": proposal.to_json()}
        window = None if proposal.window is None else _instant(proposal.window)
        row |= {"window_start": window, "flags": list(flags), "state": "waiting", "model": model}

        def work(connection: Connection) -> None:
            if connection.execute(select(t.c.id).where(t.c.id == name)).first():
                return
            waiting = (t.c.monitor == self.monitor) & (t.c.state == "waiting")
            connection.execute(update(t).where(waiting).values(state="superseded"))
            connection.execute(insert(t).values(**row))

        self.database.write(work)
        return name

    def get(self, name: str) -> SavedProposal:
        """The proposal with this id."""
        found = self._read(self._query().where(sql_tables.proposals.c.id == name))
        if not found:
            raise DataError(f"monitor {self.monitor} has no proposal {name!r}; `klda monitor history` lists all")
        return found[0]

    def waiting(self) -> SavedProposal | None:
        """The proposal that waits for a decision; None if there is none."""
        found = self._read(self._query().where(sql_tables.proposals.c.state == "waiting"))
        return found[0] if found else None

    def waiting_id(self) -> tuple[str, tuple[str, ...]] | None:
        """The id and the flags of the proposal that waits; the proposal itself may be long and is not read."""
        t = sql_tables.proposals
        query = select(t.c.id, t.c.flags).where(t.c.monitor == self.monitor, t.c.state == "waiting")
        found = self.database.read(lambda c: c.execute(query.order_by(t.c.made.desc())).first())
        return None if found is None else (found[0], tuple(found[1]))

    def newest(self, limit: int = 100) -> list[SavedProposal]:
        """The newest proposals, newest first."""
        return self._read(self._query().limit(limit))

    def decide(
        self, name: str, verdict: Verdict, *, decided_by: str, note: str = "", keywords: KeywordSet | None = None
    ) -> Decision:
        """The decision about a proposal, which is recorded. A second decision about it raises StoreError.

        keywords: the edited list; only with the verdict `edit`.
        """
        if verdict not in _STATE_AFTER:
            raise SettingError(f"verdict {verdict!r}: give approve, edit or reject")
        if (verdict == "edit") != (keywords is not None):
            raise SettingError("the verdict edit needs keywords, and other verdicts take none")
        saved = self.get(name)
        chosen = keywords if keywords is not None else saved.proposal.next_keywords
        if verdict == "reject":
            chosen = saved.proposal.current
        decision, own, entry = Decision(verdict, decided_by, self.clock(), chosen, note), new_id(), new_id()
        t, d = sql_tables.proposals, sql_tables.decisions

        def work(connection: Connection) -> None:
            if connection.execute(select(d.c.id).where(d.c.id == own)).first():
                return
            state = _STATE_AFTER[verdict]
            mine = (t.c.id == name) & (t.c.monitor == self.monitor) & (t.c.state == "waiting")
            if connection.execute(update(t).where(mine).values(state=state)).rowcount != 1:
                raise StoreError(f"proposal {name}: {self._fate(connection, name)}; reload to see its state")
            row = {"id": own, "monitor": self.monitor, "proposal": name, "made": decision.made, "verdict": verdict}
            row |= {"decided_by": decided_by, "note": note, "keywords": _plain(chosen)}
            connection.execute(insert(d).values(**row))
            detail = {"note": note, "keywords": list(chosen.texts)}
            self.journal.note_within(connection, entry, AuditEntry(decision.made, decided_by, verdict, name, detail))

        self.database.write(work)
        return decision

    def withdraw_examples(self, ids: Collection[str]) -> int:
        """How many proposals changed because deleted posts were removed from their examples."""
        gone = frozenset(ids)
        t = sql_tables.proposals

        def work(connection: Connection) -> int:
            changed = 0
            bodies = connection.execute(select(t.c.id, t.c.body).where(t.c.monitor == self.monitor)).all()
            for name, body in bodies:
                proposal = Proposal.from_json(body, f"proposal {name}")
                cleaned = _without_examples(proposal, gone)
                if cleaned != proposal:
                    connection.execute(update(t).where(t.c.id == name).values(body=cleaned.to_json()))
                    changed += 1
            return changed

        return self.database.write(work) if gone else 0

    def _fate(self, connection: Connection, name: str) -> str:
        d = sql_tables.decisions
        row = connection.execute(select(d.c.verdict, d.c.decided_by, d.c.made).where(d.c.proposal == name)).first()
        return "superseded by a newer one" if row is None else f"already decided ({row[0]} by {row[1]} at {row[2]})"

    def _query(self) -> Select[Any]:
        t, d = sql_tables.proposals, sql_tables.decisions
        decision = [
            d.c[name].label(f"decision_{name}") for name in ("verdict", "decided_by", "made", "keywords", "note")
        ]
        joined = select(t, *decision).join_from(t, d, d.c.proposal == t.c.id, isouter=True)
        return joined.where(t.c.monitor == self.monitor).order_by(t.c.made.desc(), t.c.id)

    def _read(self, query: Select[Any]) -> list[SavedProposal]:
        return self.database.read(lambda c: [_saved(row) for row in c.execute(query).mappings()])


def _saved(row: Mapping[Any, Any]) -> SavedProposal:
    decision = None
    if row["decision_verdict"] is not None:
        names = ("verdict", "decided_by", "made", "note")
        facts = {name: row[f"decision_{name}"] for name in names}
        decision = Decision(keywords=_keywords(row["decision_keywords"]), **facts)
    proposal = Proposal.from_json(row["body"], f"proposal {row['id']}")
    facts = {name: row[name] for name in ("id", "made", "state", "model")}
    return SavedProposal(proposal=proposal, flags=tuple(row["flags"]), decision=decision, **facts)


def _without_examples(proposal: Proposal, gone: frozenset[str]) -> Proposal:
    reasons = tuple(
        replace(reason, examples=tuple(example for example in reason.examples if example.id not in gone))
        for reason in proposal.reasons
    )
    return replace(proposal, reasons=reasons)


def _plain(keywords: KeywordSet) -> list[list[Any]]:
    return [[keyword.text, list(keyword.forms)] for keyword in keywords]


def _keywords(plain: Sequence[Sequence[Any]]) -> KeywordSet:
    return KeywordSet(tuple(Keyword(text, tuple(forms)) for text, forms in plain))


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise DataError(f"the proposal's window {text!r} is not a time in ISO 8601; make the proposal again") from error
