"""A cluster of two nodes on this machine gives what one process gives, also when a node is lost on the way."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from deltalake import write_deltalake

from klda.cli.inputs import Reading
from klda.cli.on_ray import FileReading, source_files
from klda.errors import DataError, SettingError
from klda.model.klda import KLDA
from klda.posts import read_posts
from klda.posts.schema import PostTable
from klda.ray.cluster import connected
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.text.recipe import Recipe
from klda.text.shards import assemble, load_corpus, local_shard
from klda.text.storage import save_corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet
from tests.integration.node_work import SlowReading, double
from tests.integration.two_nodes import TwoNodes
from tests.unit.model.in_threads import own, together

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

KEYWORDS = KeywordSet.of("health", "hospital", "doctor", "horse", "racing", "climate", "rent", "space")
SETTINGS = TextSettings(min_count=3)
N_FILES = 8
QUICK = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.2",
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",  # nodes are lost without notice here
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "300",  # a lost node is noticed in two seconds, not in fifteen
}


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    before = {name: os.environ.get(name) for name in QUICK}
    os.environ.update(QUICK)
    two = TwoNodes()
    try:
        two.whole()
        with connected(two.cluster.address):
            yield two
    finally:
        two.cluster.shutdown()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, in which some posts occur twice and one line is broken."""
    from klda.simulation import write

    folder = tmp_path_factory.mktemp("posts")
    table = PostTable.of(World(weeks=3, posts_per_week=900)).table
    step = len(table) // N_FILES
    for number in range(N_FILES):
        part = PostTable(table.slice(number * step, step + 20))  # the next file begins with the last of these
        write(part, folder / f"{number:02d}.jsonl")
    with (folder / "03.jsonl").open("a") as file:
        file.write('{"id": 1, "text"\n')
    return folder


@pytest.fixture(scope="module")
def corpus(files: Path) -> Corpus:
    return Corpus.from_posts(read_posts(files), KEYWORDS, settings=SETTINGS)


@pytest.fixture(scope="module")
def saved(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same corpus in shards, which two workers share out: the cut is within the second."""
    folder, posts = tmp_path_factory.mktemp("corpus"), corpus.posts.table
    parts = [folder / f"part-{number}" for number in range(3)]
    for number, part in enumerate(parts):
        step = len(posts) // len(parts)
        save_corpus(local_shard(PostTable(posts.slice(number * step, step)), Recipe(KEYWORDS, settings=SETTINGS)), part)
    assemble(parts, folder / "corpus", Recipe(KEYWORDS, settings=SETTINGS))
    same_corpus(load_corpus(folder / "corpus"), corpus)
    return folder / "corpus"


def same_corpus(one: Corpus, other: Corpus) -> None:
    assert one.vocabulary == other.vocabulary
    assert one.n_distinct == other.n_distinct
    assert (one.windows, one.history, one.candidates) == (other.windows, other.history, other.candidates)
    assert one.posts.table.equals(other.posts.table)
    np.testing.assert_array_equal(one.observed.indptr, other.observed.indptr)
    np.testing.assert_array_equal(one.observed.values, other.observed.values)
    for part in ("documents", "apart"):
        for name, array in getattr(one, part).arrays().items():
            np.testing.assert_array_equal(array, getattr(other, part).arrays()[name], err_msg=f"{part}.{name}")


def test_a_corpus_made_on_the_cluster_is_the_local_one_also_when_a_node_is_lost(
    nodes: TwoNodes, files: Path, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from klda.posts.read_report import combined
    from klda.ray import input_files
    from klda.ray.preparation import prepare

    nodes.whole()
    monkeypatch.setattr(input_files, "GROUP_BYTES", 1)  # every file is a task
    lost = nodes.lose_when(lambda: len(list(tmp_path.glob(".out-parts-*/*/*.arrow"))) >= 3)
    out = tmp_path / "out"
    done = prepare(source_files([files]), SlowReading(Reading({})), Recipe(KEYWORDS, settings=SETTINGS), out)
    assert not lost.is_alive()
    assert done.corpus is not None
    assert len(done.corpus) == N_FILES
    same_corpus(load_corpus(out), corpus)
    local = read_posts(files)
    assert sum(batch.num_rows for batch in local.batches()) == len(corpus.posts)
    report = combined(done.reports, done.duplicates)
    assert (report.lines, report.posts, report.duplicates, dict(report.bad)) == (
        local.report.lines,
        local.report.posts,
        local.report.duplicates,
        dict(local.report.bad),
    )
    assert not list(tmp_path.glob(".out-parts-*"))


def test_a_delta_table_and_parquet_at_an_address_are_read_like_files(nodes: TwoNodes, corpus: Corpus, tmp_path: Path):
    from klda.ray.preparation import prepare

    posts, half = corpus.posts.table, len(corpus.posts) // 2
    # In one piece, so in one file: the files of a Delta table have no order.
    write_deltalake(tmp_path / "table", posts.slice(0, half).combine_chunks())
    (tmp_path / "folder").mkdir()
    pq.write_table(posts.slice(half), tmp_path / "folder" / "late.parquet")
    files = source_files([tmp_path / "table", Path(f"file://{tmp_path}/folder")])
    prepare(files, FileReading(Reading({})), Recipe(KEYWORDS, settings=SETTINGS), tmp_path / "out")
    same_corpus(load_corpus(tmp_path / "out"), corpus)


def test_tasks_give_what_map_gives_and_raise_what_it_raises(nodes: TwoNodes):
    from klda.ray.cluster import task_map

    assert list(task_map(ordered=True)(double, range(6))) == [0, 2, 4, 6, 8, 10]
    assert sorted(task_map()(double, range(6))) == [0, 2, 4, 6, 8, 10]
    with pytest.raises(DataError, match=r"^-1 is negative$"):
        list(task_map()(double, [1, -1]))


def test_commands_give_on_ray_what_they_give_here(
    nodes: TwoNodes,
    files: Path,
    corpus: Corpus,
    klda: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    words = ",".join(KEYWORDS.texts)
    options = ["--keywords", words, "--min-count", 3, "--format", "json"]
    here, there = (klda("prepare", files, "--out", engine, *options, "--engine", engine) for engine in ("local", "ray"))
    assert there.exit_code == 0
    same_corpus(load_corpus("ray"), load_corpus("local"))
    alike = [
        {k: v for k, v in json.loads(one.stdout).items() if k not in ("corpus", "bad_examples")}
        for one in (here, there)
    ]
    assert alike[0] == alike[1]

    subjects = [
        {"name": "health", "keywords": ["health", "doctor"]},
        {"name": "sport", "keywords": ["horse", "racing"]},
    ]
    Path("subjects.json").write_text(json.dumps({"subjects": subjects}), encoding="utf-8")
    choice = ["--subjects", "subjects.json", "--policies", "counting,random", "--weeks", 2, "--test-weeks", 1]
    summaries = [
        klda(
            "backtest",
            files,
            *choice,
            "--work",
            f"work-{engine}",
            "--workers",
            1,
            "--format",
            "json",
            "--engine",
            engine,
        )
        for engine in ("local", "ray")
    ]
    assert [summary.exit_code for summary in summaries] == [0, 0]
    timeless = [re.sub(r'"seconds": [0-9.]+', "", summary.stdout) for summary in summaries]
    assert timeless[0] == timeless[1]
    assert '"proposed"' in timeless[0]


@pytest.mark.parametrize("content", ["", '{"id": 1, "text"\n'])
def test_files_without_posts_are_accounted_for_and_named_on_ray_as_here(
    nodes: TwoNodes, klda: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "posts.jsonl"
    file.write_text(content, encoding="utf-8")
    for command in (["prepare", file, "--out", "out"], ["recommend", file]):
        options = ["--keywords", "health", "--format", "json"]
        here, there = (klda(*command, *options, "--engine", engine) for engine in ("local", "ray"))
        assert (there.exit_code, there.error) == (here.exit_code, here.error)
        assert (there.stdout, there.stderr) == (here.stdout, here.stderr)
    assert not Path("out").exists()


def model(batch_size: int) -> KLDA:
    return KLDA(
        n_topics=3,
        hidden=(8,),
        batch_size=batch_size,
        relaxation="enumerate",
        pretraining_iterations=30,
        max_iterations=30,
        check_every=10,
        patience=None,
    )


def parameters(trained: KLDA) -> dict[str, torch.Tensor]:
    return trained.parameters_.tensors()


def test_two_workers_equal_two_in_one_process_bit_for_bit_also_when_a_node_is_lost(
    nodes: TwoNodes, saved: Path, corpus: Corpus, tmp_path: Path
):
    from klda.ray.training import train

    nodes.whole()
    here = together(2, lambda workers: model(16).fit(own(corpus, workers), workers=workers))[0]
    lost = nodes.lose_when(lambda: len(list(tmp_path.glob("run/ray/checkpoint_*/worker-1.json"))) >= 2)
    found = train(model(16), saved, tmp_path / "run", workers=2)
    assert not lost.is_alive()
    assert found.history_ == here.history_
    assert all(torch.equal(tensor, parameters(here)[name]) for name, tensor in parameters(found).items())


def test_an_error_of_ours_comes_back_as_it_is_and_is_not_tried_again(nodes: TwoNodes, saved: Path, tmp_path: Path):
    from klda.ray.training import train

    empty = tmp_path / "empty"
    save_corpus(load_corpus(saved).take(np.arange(0)), empty)
    interrupted = signal.getsignal(signal.SIGINT)
    with pytest.raises(DataError, match=r"^the corpus has no document that carries a candidate"):
        train(model(16), empty, tmp_path / "run")
    assert signal.getsignal(signal.SIGINT) is interrupted, "Ctrl-C is not caught for a run that is over"


def test_more_workers_than_the_cluster_has_room_for_are_refused(nodes: TwoNodes, saved: Path, tmp_path: Path):
    from klda.ray.training import train

    nodes.whole()
    with pytest.raises(SettingError, match=r"^--workers 5: each needs a CPU and the cluster has 4; use fewer"):
        train(model(16), saved, tmp_path / "run", workers=5)
    with pytest.raises(SettingError, match=r"^--workers 1: each needs a GPU and the cluster has 0; "):
        train(model(16).set_params(device="cuda"), saved, tmp_path / "run")


def test_training_and_advice_on_ray_are_those_made_here(
    nodes: TwoNodes, files: Path, saved: Path, klda: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    engines = ("local", "ray")
    trained = [
        klda("train", saved, "--model", engine, "--max-iterations", 20, "--format", "json", "--engine", engine)
        for engine in engines
    ]
    assert [run.exit_code for run in trained] == [0, 0]
    here, there = ({**json.loads(run.stdout), "model": ""} for run in trained)
    assert here == there
    one, other = (parameters(KLDA.load(engine)) for engine in engines)
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())

    options = ["--keywords", "health,doctor", "--min-count", 3, "--format", "json"]
    advice = [klda("recommend", files, *options, "--engine", engine) for engine in engines]
    assert [run.exit_code for run in advice] == [0, 0]
    assert advice[0].stdout == advice[1].stdout
    assert json.loads(advice[0].stdout)["reasons"]
    assert all("03.jsonl, line " in run.stderr for run in advice)  # the broken one
