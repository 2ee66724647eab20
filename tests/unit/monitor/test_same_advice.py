"""Commands, monitors and replays give the same advice for the same posts."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from klda.advice.proposal import Proposal
from klda.cli.app import app
from klda.evaluation.archive import Archive
from klda.evaluation.asking import policy_of
from klda.evaluation.closed_loop import propose_next
from klda.evaluation.subjects import Subject
from klda.monitor.calendar import close
from klda.monitor.collect import collect
from klda.monitor.propose import propose
from klda.posts.formats.outcome import Row
from klda.posts.reader import read_posts
from klda.posts.schema import from_batch
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, row, write_posts

WEEKS, PER_WEEK = 4, 600
SUBJECT, KEYWORDS = "health care", ("hospital", "doctor", "medicine")
LIMITS = {"max_terms": 8, "max_posts": 500}
REQUIRED = "patients"


def stream() -> list[Row]:
    """Posts about several subjects."""
    posts = World(weeks=WEEKS, posts_per_week=PER_WEEK, seed=2)
    every = (post for batch in posts.batches() for post in from_batch(batch))
    return [row(post.id, post.text, week=(post.time - MONDAY) / WEEK) for post in every]


@dataclass(frozen=True)
class Asked:
    """The proposal of a monitor, and the ids of the posts that it had collected and sampled."""

    proposal: Proposal
    collected: tuple[str, ...]
    sampled: tuple[str, ...]


def of_monitor(make: Make, sample: float) -> Asked:
    few = {"iterations": 2, "n_topics": 2}
    settings = {"subject": SUBJECT, "keywords": list(KEYWORDS), "policy_settings": few}
    settings |= {"budget": LIMITS | {"required": [REQUIRED]}}
    with make([*stream(), row("end", "later", week=WEEKS)], sample=sample, **settings) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        close(monitor)
        proposal = propose(monitor).proposal
        parts = [monitor.posts().read(sample=part).batches() for part in (False, True)]
        ids = [tuple(sorted(name for b in part for name in b.column("id").to_pylist())) for part in parts]
        return Asked(proposal, *ids)


def of_command(tmp_path: Path, asked: Asked, sample: float) -> Proposal:
    rows = {one.id: one for one in stream()}
    options = ["--keywords", ",".join(KEYWORDS), "--subject", SUBJECT, "--format", "json"]
    options += ["--require", REQUIRED, *(f"--{name.replace('_', '-')}={value}" for name, value in LIMITS.items())]
    files = {name: [rows[i] for i in ids if i in rows] for name, ids in vars(asked).items() if name != "proposal"}
    if sample == 1.0:  # a dump: all posts in one file, none of them a sample
        files["collected"] = stream()
    elif asked.sampled:
        file = write_posts(tmp_path / "sample.jsonl", files["sampled"])
        options += ["--sample", str(file), "--sample-share", str(sample)]
    result = CliRunner().invoke(
        app, ["recommend", str(write_posts(tmp_path / "c.jsonl", files["collected"])), *options]
    )
    assert result.exit_code == 0, result.output
    return Proposal.from_dict(json.loads(result.stdout))


def of_replay(tmp_path: Path, asked: Asked, sample: float) -> Proposal:
    posts = read_posts(write_posts(tmp_path / "all.jsonl", stream()))
    archive = Archive(Corpus.from_posts(posts, KEYWORDS))
    current = KeywordSet.of(*KEYWORDS)
    ids = np.array(archive.corpus.posts.column("id", archive.documents.post).to_pylist())
    sampled = [np.intersect1d(archive.positions(w), np.flatnonzero(np.isin(ids, asked.sampled))) for w in range(WEEKS)]
    return propose_next(
        archive,
        policy_of("klda", Subject("health_care", current), sample_share=sample or 1.0),
        [current] * WEEKS,
        [archive.collect(window, current) for window in range(WEEKS)],
        sampled,
        Budget(**LIMITS, required=KeywordSet.of(REQUIRED)),
        generator=np.random.default_rng(0),
    )


def told(proposal: Proposal) -> dict[str, Any]:
    return {name: getattr(proposal, name).texts for name in ("keep", "add", "drop", "ranked")}


def relevance(proposal: Proposal) -> dict[str, float]:
    return {reason.keyword.text: reason.relevance or 0.0 for reason in proposal.reasons}


@pytest.mark.parametrize("sample", [0.0, 0.5, 1.0], ids=["list only", "with a sample", "everything"])
def test_command_monitor_and_replay_propose_the_same_for_the_same_posts(
    make: Make, tmp_path: Path, sample: float
) -> None:
    asked = of_monitor(make, sample)
    assert bool(asked.sampled) == bool(sample)
    assert REQUIRED in asked.proposal.add
    assert len(asked.proposal.ranked) > 20, "many words were weighed"
    for other in (of_command(tmp_path, asked, sample), of_replay(tmp_path, asked, sample)):
        assert told(other) == told(asked.proposal)
        assert relevance(other) == pytest.approx(relevance(asked.proposal), abs=1e-9)
