"""How time and memory of an iteration grow; each point in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from klda.corpus.documents import Ragged, offsets
from klda.model.data import TrainingData
from klda.model.objective import initial_parameters
from klda.model.settings import Settings
from klda.model.trainer import TRAINING, Split, Trainer

BASE = {"documents": 100_000, "candidates": 40, "words": 12_000, "topics": 5, "batch": 64}
AXES: dict[str, tuple[int, ...]] = {
    "documents": (10_000, 100_000, 1_000_000),
    "candidates": (40, 400, 4_000),
    "words": (6_000, 12_000, 24_000),
    "topics": (5, 10, 20),
    "batch": (64, 128, 256),
}


def measure(rounds: int = 3) -> dict[str, list[dict[str, Any]]]:
    """Milliseconds an iteration and peak megabytes along every axis, the others as in the paper.

    The points of an axis take turns, and each shows its quickest turn: what else the machine does only ever adds.
    """
    found = {}
    for axis, values in AXES.items():
        turns = [[_in_own_process(BASE | {axis: value}, axis) for value in values] for _ in range(rounds)]
        found[axis] = [min(point, key=lambda turn: turn["milliseconds"]) for point in zip(*turns, strict=True)]
    return found


def _in_own_process(sizes: dict[str, int], axis: str) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.growth", json.dumps(sizes)], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return {axis: sizes[axis], **found}


def one(sizes: dict[str, int]) -> dict[str, float]:
    """Full iterations at these sizes, with trained ε: the way that holds most in memory. Processor time, one thread."""
    torch.set_num_threads(1)
    before = _peak_megabytes()
    data = random_data(sizes["documents"], sizes["words"], sizes["candidates"])
    settings = Settings(n_topics=sizes["topics"], batch_size=sizes["batch"], relaxation="gumbel")
    parameters = initial_parameters(
        settings,
        n_words=data.n_words,
        word_frequency=data.word_frequency,
        keyword_frequency=data.keyword_frequency,
        generator=torch.Generator().manual_seed(0),
    )
    trainer = Trainer(parameters, Split(data, data.take(np.arange(100))), settings)
    trainer.state.position.stage = TRAINING
    times = []
    for _ in range(25):
        start = time.process_time()
        trainer.step()
        times.append(time.process_time() - start)
    dense = sizes["documents"] * sizes["candidates"] * 4 / 2**20
    return {
        "milliseconds": round(1000 * float(np.median(times[5:])), 1),
        "peak_megabytes": round(_peak_megabytes() - before),
        "dense_epsilon_would_take": round(dense),
    }


def random_data(n_documents: int, n_words: int, n_keywords: int, seed: int = 0) -> TrainingData:
    """Documents of ten words, one to three of them candidates."""
    generator = np.random.default_rng(seed)
    n_observed = generator.integers(1, 4, n_documents)
    start = generator.integers(0, n_keywords - 3, n_documents).astype(np.int32)
    lists = offsets(n_observed)
    step = np.arange(lists[-1]) - np.repeat(lists[:-1], n_observed)
    observed = Ragged(lists, (np.repeat(start, n_observed) + step).astype(np.int32))
    others = np.sort(generator.integers(n_keywords, n_words - 10, (n_documents, 7)).astype(np.int32), axis=1)
    others += np.arange(7, dtype=np.int32)  # ascending and distinct
    lengths = n_observed + 7
    indptr = offsets(lengths)
    words = np.empty(indptr[-1], dtype=np.int32)
    place = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    is_keyword = place < np.repeat(n_observed, lengths)
    words[is_keyword] = observed.values
    words[~is_keyword] = others.ravel()
    return TrainingData(
        indptr,
        words,
        np.ones(len(words), dtype=np.int32),
        observed,
        Ragged.of([[j] for j in range(n_keywords)]),
        n_words,
        np.ones(n_documents),
    )


def _peak_megabytes() -> float:
    """The peak of this process alone; `ru_maxrss` would carry over that of the process which started it."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes")
    print(json.dumps(one(json.loads(parser.parse_args().sizes))))
