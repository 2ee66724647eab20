"""Closed loops on crises: tweets of an event among those of the same days, in windows of hours rather than weeks.

    python -m benchmarks.crises crisislex.parquet [--part chosen|other] [--policies klda,static,…] [--work DIR]

Every English event of the archive is a stream: all posts between the event's first and last one, cut into about 24
windows. On the subject are those that people labelled as on topic, or as related to the event. The first list is made
of its earliest tenth of posts, by the rule of `benchmarks.subjects`. Of six events the archive has ten thousand tweets:
on them a rule of an earlier policy was `chosen`. The others, a thousand tweets each, were only run (`other`). `klda` is
run with and without vectors. Prints JSON: F1 of both, and the summary of the loops, by event.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.quality import VARIANTS
from benchmarks.quality_figures import closed_figures
from benchmarks.subjects import first_list, usable_words
from klda.cli.archives import open_replay, policy_names
from klda.cli.inputs import Reading
from klda.cli.output import progress_bar
from klda.evaluation.archive import Archive
from klda.evaluation.backtest import BacktestSettings, run, tasks
from klda.evaluation.backtest_summary import closed_summary
from klda.evaluation.parallel import process_map
from klda.evaluation.subjects import Subject
from klda.posts.reader import read_posts
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet

POLICIES = "klda,static,counting,labels-next-week"
OTHER_LANGUAGES = ("italy", "venezuela", "costa_rica", "guatemala", "brazil", "spain", "sardinia")
RELATED = ("on-topic", "Related and informative", "Related - but not informative")
MANY = 5_000
"""Posts of an event that make it one of those on which the rule was chosen."""
EARLIEST = 0.1
N_WINDOWS = 24


def events(posts: pl.DataFrame, part: str | None) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each event's name and stream; `label` is the name where a post is on the subject, and `other` elsewhere."""
    posts = posts.with_columns(pl.col("story").str.to_lowercase().str.slice(5)).sort("time", "id")
    for name in posts["story"].unique().drop_nulls().sort():
        mine = posts.filter(pl.col("story") == name)
        if name.startswith(OTHER_LANGUAGES) or part not in (None, "chosen" if len(mine) > MANY else "other"):
            continue
        on_subject = (pl.col("story") == name) & pl.col("label").is_in(RELATED)
        stream = posts.filter(pl.col("time").is_between(mine["time"].min(), mine["time"].max()))
        yield name, stream.with_columns(label=pl.when(on_subject).then(pl.lit(name)).otherwise(pl.lit("other")))


def loops(name: str, stream: pl.DataFrame, policies: tuple[str, ...], work: Path, jobs: int) -> list[dict[str, Any]]:
    """The closed loop of every policy on an event."""
    path = work / f"{name}-{stream.hash_rows().sum():x}.parquet"
    if not path.exists():  # results are kept for the file as it is
        stream.write_parquet(path)
    keywords = _first_keywords(path, name)
    if not keywords:
        print(f"{name}: its earliest posts have no word that tells them apart; left out", file=sys.stderr)
        return []
    subject = Subject(name, KeywordSet.of(*keywords), frozenset([name]))
    span = stream["time"][-1] - stream["time"][0]
    window = f"{max(1, round(span.total_seconds() / 3600 / N_WINDOWS))}h"
    with progress_bar(quiet=False) as progress:
        replay = open_replay([path], [subject], Reading({}), window, work=work, training=None, progress=progress)
        settings = BacktestSettings(policies=policies, loop="closed", policy_settings=VARIANTS)
        cases = tasks(replay.archive, replay.corpus, replay.results(settings), [subject], settings, [])
        return list(run(cases, map=process_map(jobs), progress=progress))


def _first_keywords(path: Path, label: str) -> list[str]:
    """The words that best tell the subject's posts in its earliest part."""
    archive = Archive(Corpus.from_posts(read_posts(path), [label], settings=TextSettings(stem=False)))
    inside = np.concatenate([archive.positions(window) for window in range(archive.n_windows)])
    relevant = archive.labels[inside] == label
    early = np.cumsum(relevant) <= EARLIEST * relevant.sum()
    if not relevant[early].any():
        return []
    words, present = usable_words(archive, inside[early])
    return first_list(present, words, relevant[early])


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="crisislex.parquet")
    parser.add_argument("--part", choices=["chosen", "other"], help="only these events")
    parser.add_argument("--policies", default=POLICIES)
    parser.add_argument("--work", type=Path, default=Path("crises"), help="where streams and results are kept")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    policies = policy_names(given.policies, labels=True)
    if "klda" in policies:
        policies = (*policies, *VARIANTS)
    found = [
        result
        for name, stream in events(pl.read_parquet(given.archive), given.part)
        for result in loops(name, stream, policies, given.work.resolve(), given.jobs)
    ]
    summary = closed_summary(found, policies)
    print(json.dumps(closed_figures(summary) | summary))


if __name__ == "__main__":
    main()
