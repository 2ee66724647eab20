"""How time and memory of an iteration grow; each point in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np
import torch

from klda.model.data import TrainingData
from klda.model.initialise import first_parameters
from klda.model.model_settings import ModelSettings
from klda.model.trainer import TRAINING, Split, Trainer
from klda.text.documents import Ragged, offsets

BASE = {"documents": 100_000, "candidates": 40, "words": 12_000, "topics": 5, "batch": 64}
AXES: dict[str, tuple[int, ...]] = {
    "documents": (10_000, 100_000, 1_000_000),
    "candidates": (40, 400, 4_000),
    "words": (6_000, 12_000, 24_000),
    "topics": (5, 10, 20),
    "batch": (64, 128, 256),
}
WARM_UP, TURN = 20, 10
"""Iterations before any is timed, and iterations in a row before another point has its turn."""


def measure(turns: int = 12) -> dict[str, list[dict[str, Any]]]:
    """Milliseconds an iteration and peak megabytes along every axis, the others as in the paper."""
    return {axis: _in_turns(axis, [BASE | {axis: value} for value in values], turns) for axis, values in AXES.items()}


def _in_turns(axis: str, points: list[dict[str, int]], turns: int) -> list[dict[str, Any]]:
    """What each point takes. All points of an axis wait in processes and take turns, so they see the same machine."""
    with ExitStack() as running:
        processes = [running.enter_context(_process(point)) for point in points]
        answers = [[_ask(process) for process in processes] for _ in range(turns)]
    return [
        {
            axis: point[axis],
            "milliseconds": round(float(np.median([t for answer in of_point for t in answer["milliseconds"]])), 2),
            "peak_megabytes": round(of_point[-1]["peak_megabytes"]),
            "dense_epsilon_would_take": round(point["documents"] * point["candidates"] * 4 / 2**20),
        }
        for point, of_point in zip(points, zip(*answers, strict=True), strict=True)
    ]


def _process(point: dict[str, int]) -> Popen[str]:
    command = [sys.executable, "-m", "benchmarks.growth", json.dumps(point)]
    return Popen(command, stdin=PIPE, stdout=PIPE, text=True)


def _ask(process: Popen[str]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def answer_in_turns(sizes: dict[str, int]) -> None:
    """Prints the times of a few iterations and the peak memory so far, for each line that comes in.

    Full iterations with trained ε: the way that holds most in memory. Processor time, one thread.
    """
    torch.set_num_threads(1)
    before = _peak_megabytes()
    trainer = _trainer(sizes)
    for _ in range(WARM_UP):
        trainer.step()
    for _ in sys.stdin:
        times = []
        for _ in range(TURN):
            start = time.process_time()
            trainer.step()
            times.append(1000 * (time.process_time() - start))
        print(json.dumps({"milliseconds": times, "peak_megabytes": _peak_megabytes() - before}), flush=True)


def _trainer(sizes: dict[str, int]) -> Trainer:
    data = random_data(sizes["documents"], sizes["words"], sizes["candidates"])
    settings = ModelSettings(n_topics=sizes["topics"], batch_size=sizes["batch"], relaxation="gumbel")
    parts = Split(data, data.take(np.arange(100)))
    trainer = Trainer(first_parameters(parts, settings), parts, settings)
    trainer.state.position.stage = TRAINING
    return trainer


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
    answer_in_turns(json.loads(parser.parse_args().sizes))
