"""What pages and resources both do with proposals: find one, weigh it, decide about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from fastapi import HTTPException

from klda.advice.choices import Choices
from klda.errors import DataError, InputError
from klda.monitor.choices import path_of, read_choices, with_posts
from klda.monitor.decide import approve, edit, reject
from klda.monitor.monitor import Monitor
from klda.store import SavedProposal
from klda.types import KeywordSet
from klda.web.forms import MOST_KEYWORDS, MOST_LETTERS

PROPOSAL = r"^[0-9a-f]{16}$"
MOST_NOTE = 2_000

Verdict = Literal["approve", "edit", "reject"]


def the_proposal(monitor: Monitor, name: str) -> SavedProposal:
    """The proposal of this id; an answer of 404 where there is none."""
    try:
        return monitor.records.proposals.get(name)
    except DataError as error:
        raise HTTPException(404, f"there is no proposal {name!r}") from error


def the_choices(monitor: Monitor, saved: SavedProposal) -> Choices | None:
    """What a proposal was chosen from, where that is kept, read once and held; further words come from the posts."""
    path = path_of(monitor, saved.id)
    return with_posts(_read(path), monitor, saved.proposal) if path.is_file() else None


def weighable(monitor: Monitor, saved: SavedProposal) -> Choices:
    """The same; an answer of 409 where it is not kept."""
    found = the_choices(monitor, saved)
    if found is None:
        raise HTTPException(409, "what this proposal was chosen from is not kept; only newer ones can be weighed")
    return found


@lru_cache(maxsize=8)
def _read(path: Path) -> Choices:
    return read_choices(path)  # a file never changes: the id of a proposal is in its name


def decide(
    monitor: Monitor, saved: SavedProposal, verdict: Verdict, *, identity: str, note: str, keywords: Sequence[str]
) -> None:
    """Records a decision under the name of who made it, and lets the keywords hold."""
    if saved.state != "waiting":
        raise DataError(f"proposal {saved.id} does not wait any more: it is {saved.state}")
    if verdict == "approve":
        approve(monitor, saved.id, decided_by=identity, note=note)
    elif verdict == "reject":
        reject(monitor, saved.id, decided_by=identity, note=note)
    else:
        if len(keywords) > MOST_KEYWORDS or any(len(keyword) > MOST_LETTERS for keyword in keywords):
            raise InputError(f"a list has at most {MOST_KEYWORDS} keywords of at most {MOST_LETTERS} characters")
        edit(monitor, _known(monitor, saved, keywords), saved.id, decided_by=identity, note=note)


def _known(monitor: Monitor, saved: SavedProposal, keywords: Sequence[str]) -> KeywordSet:
    """The keywords with the forms under which they were weighed; others match as typed."""
    choices = the_choices(monitor, saved)
    candidates = KeywordSet() if choices is None else choices.candidates
    typed = KeywordSet.of(*keywords)
    return KeywordSet(tuple(candidates[candidates.index(k)] if k in candidates else k for k in typed))
