"""The measurements of `benchmarks.scale`, each in a process of its own, which `benchmarks.watching` starts.

A point is JSON that names its kind and its sizes; what was measured is printed as JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.scale_ray import on_ray
from klda.advice.advise import KLDAPolicy
from klda.advice.topics import Topics
from klda.arrays import Floats, Ints
from klda.evaluation.parallel import one_thread
from klda.model.data import training_data
from klda.model.initialise import first_parameters
from klda.model.model_settings import ModelSettings
from klda.model.trainer import TRAINING, Trainer, split
from klda.policies.recommend import recommend
from klda.posts import read_posts
from klda.simulation import World, write
from klda.text.corpus import Corpus, every
from klda.text.out_of_core import prepare
from klda.text.recipe import Recipe
from klda.text.shards import load_corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Progress

WEEKS = 10
PER_MIN_COUNT = 10_000
"""Posts for each occurrence that a word needs: the vocabulary stays as large as the archive grows, as one would have it
in practice; with a fixed number, words and the cost of an iteration would grow with the root of the posts or so."""
N_CANDIDATES = 40
BATCH = 512


def simulated(posts: int, file: Path) -> dict[str, Any]:
    """Writes the simulated world: drawn post by post with vectorised draws, streamed to Parquet."""
    start = time.perf_counter()
    write(World(weeks=WEEKS, posts_per_week=posts // WEEKS, seed=0), file)
    return {"seconds": round(time.perf_counter() - start, 1), "megabytes": file.stat().st_size >> 20}


def candidates_of_world() -> tuple[KeywordSet, KeywordSet]:
    """Current keywords of one subject, and 40 candidates: the words of all subjects in turns."""
    subjects = World(weeks=1, posts_per_week=1).subjects
    words = [word for turn in zip(*(s.keywords for s in subjects), strict=False) for word in turn]
    return KeywordSet.of(*subjects[0].keywords), KeywordSet.of(*words[:N_CANDIDATES])


def documents(posts: int, file: Path, folder: Path, memory: int) -> dict[str, Any]:
    """Preparation within a given memory, and one pass of training: as many iterations as see each document once."""
    current, candidates = candidates_of_world()
    clock, start = Clock(), time.process_time()
    corpus = prepare(
        read_posts(file, memory=memory // 8),
        Recipe(current, candidates, settings=TextSettings(min_count=max(1, posts // PER_MIN_COUNT))),
        folder,
        memory=memory,
    )
    reading = time.process_time() - start  # of this process, which reads while others prepare
    clock.lap("prepare")
    loaded = load_corpus(folder, every)
    clock.lap("load")
    trainer = trainer_of(loaded, ModelSettings(batch_size=BATCH, random_state=0))
    clock.lap("start")
    iterations = ceil(len(trainer.data.training) / BATCH)
    for _ in range(iterations):
        trainer.step()
    clock.lap("train")
    return {
        "posts": posts,
        "documents": len(loaded),
        "words": len(loaded.vocabulary),
        "shards": len(corpus),
        "iterations": iterations,
        "seconds": clock.laps,
        "processor_seconds": clock.busy,
        "reading_seconds": round(reading, 2),
        "disk_megabytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) >> 20,
    }


def trainer_of(corpus: Corpus, settings: ModelSettings) -> Trainer:
    """A trainer of the full model at its start."""
    parts = split(training_data(corpus), settings)
    trainer = Trainer(first_parameters(parts, settings), parts, settings)
    trainer.state.position.stage = TRAINING
    return trainer


def choice(n_candidates: int, posts: int, file: Path) -> dict[str, Any]:
    """Advice among so many candidates: matching them, training, and choosing; processor time of one thread."""
    one_thread()
    current, _ = candidates_of_world()
    corpus = Corpus.from_posts(read_posts(file), current, settings=TextSettings(min_count=2))
    frequent = [corpus.vocabulary.display(i) for i in range(1, min(n_candidates, len(corpus.vocabulary) - 1) + 1)]
    policy = TimedPolicy(predict=True)
    start = time.process_time()
    proposal = recommend(corpus, current, candidates=frequent, policy=policy, budget=20)
    whole = time.process_time() - start
    start = time.process_time()
    matched = corpus.with_candidates(current | KeywordSet.of(*frequent))
    matching = time.process_time() - start
    trainer = trainer_of(matched, ModelSettings(batch_size=64, random_state=0))
    return {
        "posts": posts,
        "candidates": len(matched.candidates),
        "words": len(corpus.vocabulary),
        "matching_seconds": round(matching, 2),
        "training_seconds": round(policy.estimating, 2),
        "selection_seconds": round(whole - matching - policy.estimating, 2),
        "iteration_milliseconds": round(1000 * median_time(trainer.step), 1),
        "chosen": len(proposal.next_keywords),
    }


@dataclass
class TimedPolicy(KLDAPolicy):
    """The default policy, which notes how long it took to know each candidate's words."""

    estimating: float = field(default=0.0, init=False)

    def predicted(
        self, history: Corpus, shown: Ints, *, generator: np.random.Generator, progress: Progress
    ) -> tuple[Floats, Topics]:
        """As the default policy."""
        start = time.process_time()
        found = super().predicted(history, shown, generator=generator, progress=progress)
        self.estimating = time.process_time() - start
        return found


class Clock:
    """Seconds of each stage, one after another, and processor seconds of it and of processes that ended in it."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.busy: dict[str, float] = {}
        self._last, self._used = time.perf_counter(), _processor_time()

    def lap(self, stage: str) -> None:
        """The stage has just ended."""
        now, used = time.perf_counter(), _processor_time()
        self.laps[stage], self.busy[stage] = round(now - self._last, 2), round(used - self._used, 2)
        self._last, self._used = now, used


def _processor_time() -> float:
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def median_time(step: Callable[[], object], times: int = 25) -> float:
    """The median of a step's processor seconds, once it is warm."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return float(np.median(taken[5:]))


POINTS: dict[str, Callable[..., dict[str, Any]]] = {
    "simulate": simulated,
    "documents": documents,
    "choice": choice,
    "ray": on_ray,
}


def main() -> None:
    """Measures the point that the command line names and prints what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("point")
    point = json.loads(parser.parse_args().point)
    torch.set_num_threads(1)  # preparation takes all cores; training one, so that points compare on any machine
    sizes = {key: Path(value) if key in ("file", "folder") else value for key, value in point.items() if key != "kind"}
    print(json.dumps(POINTS[point["kind"]](**sizes)))
