"""The paper's protocol end to end, on simulated posts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from klda.evaluation import backtest, studies
from klda.evaluation.backtest import BacktestSettings, run_open_case, tasks
from klda.evaluation.paper_tables import RANDOM
from klda.evaluation.performance import Performance, claims
from klda.evaluation.studies import LITERAL, PAPER_POLICIES, paper_case
from klda.evaluation.study_tables import preset_tables
from klda.evaluation.subjects import Subject
from klda.evaluation.truth import TruthSettings, measure_truth
from klda.text.storage import save_corpus
from klda.types import KeywordSet

SETTINGS = BacktestSettings(
    policies=(LITERAL, "viral", "counting"),
    weeks=3,
    n_candidates=12,
    policy_settings={LITERAL: {"pretraining": 10, "iterations": 5, "n_topics": 2}},
)


@pytest.fixture(scope="module")
def corpus_folder(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive") / "corpus"
    save_corpus(archive.corpus, folder)
    return folder


@pytest.fixture(autouse=True)
def quick_truth(monkeypatch):
    few = TruthSettings(seeds=1, iterations=5, equal_samples=1)
    monkeypatch.setattr(
        backtest,
        "measure_truth",
        lambda test, current, *, generator: measure_truth(test, current, generator=generator, settings=few),
    )


@pytest.fixture
def task(archive, corpus_folder, health, tmp_path):
    (one,) = tasks(archive, corpus_folder, tmp_path, [health], SETTINGS, [7])
    return one


def test_the_tables_come_in_the_papers_order_and_are_plain_data(task):
    case = paper_case(task)
    tables = preset_tables([case], (2, 3))
    numbers = [table.title.partition(".")[0] for table in tables if table.title.startswith("Table")]
    assert numbers == ["Table 1", "Table 2", "Table 3", *["Table 4"] * 3, "Table 5", *["Table 6"] * 4]
    assert tables[-1].title.startswith("Claims of the paper")
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    assert json.loads(json.dumps([table.to_dict() for table in tables] + [case], allow_nan=False))
    by_keyword = next(table for table in tables if table.title.startswith("Table 5"))
    assert "klda-paper" in by_keyword.title, "the table is made for the paper's method alone"


def test_perplexity_is_measured_on_the_last_week_before_the_test_week(task, monkeypatch):
    asked = []
    measure = studies.measure_perplexity

    def noted(history, test, **options):
        asked.append((history, test, options))
        return measure(history, test, **options)

    monkeypatch.setattr(studies, "measure_perplexity", noted)
    found = paper_case(task)["perplexity"]
    ((history, test, options),) = asked
    assert history.n_windows == SETTINGS.weeks - 1
    assert history.documents.time.max() < test.documents.time.min()
    assert options["min_count"] == 10, "as the paper cuts its vocabulary"
    printed = found["printed"]
    assert printed["untrained"] < printed["klda"]
    assert printed["lda-same"] > found["models"]["lda-same"]["log_likelihood"], "in sample it looks better"


def test_the_literal_recipe_answers_as_in_a_backtest(task):
    case = paper_case(task)
    assert list(case["answers"]) == list(SETTINGS.policies)
    elsewhere = replace(task, work=task.work + "-backtest")
    expected = run_open_case(elsewhere)["answers"][LITERAL]
    assert case["answers"][LITERAL]["proposed"] == expected["proposed"]
    assert case["answers"][LITERAL]["scores"] == expected["scores"]


def test_a_study_that_was_stopped_keeps_the_parts_that_ended(task, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setitem(studies._PARTS, "perplexity", killed)
        with pytest.raises(KeyboardInterrupt):
            paper_case(task)
    monkeypatch.setitem(studies._PARTS, "literal", killed)
    assert "literal" in paper_case(task)


def test_a_part_that_cannot_be_measured_leaves_the_others(task, monkeypatch):
    def impossible(*_):
        raise studies.DataError("too few documents")

    monkeypatch.setitem(studies._PARTS, "perplexity", impossible)
    tables = preset_tables([paper_case(task)], (2, 3))
    assert not any(table.title.startswith("Table 4") for table in tables)
    assert any(table.title.startswith("Table 6") for table in tables)


def test_a_subject_that_nobody_writes_about_is_an_error_and_no_table(task):
    unheard = replace(task, subject=Subject("unheard", KeywordSet.of("xyzzyplugh")))
    assert "unheard" in paper_case(unheard)["error"]


def test_the_presets_policies_are_the_papers_the_default_and_the_baselines():
    assert PAPER_POLICIES[:3] == (LITERAL, "viral", "klda")


def case_of(subject, literal, viral):
    scores = {"literal": {"accuracy": literal, "coverage": 0.4}, "viral": {"accuracy": viral, "coverage": 0.6}}
    return {
        "subject": subject,
        "week": "1",
        "candidates": ["a", "b", "c", "d"],
        "truth": {"raw": {"x": ["a", "b"]}},
        "answers": {
            LITERAL: {"proposed": {"x": ["a"]}, "scores": {"raw/2": scores["literal"]}},
            "viral": {"proposed": ["b"], "scores": {"raw/2": scores["viral"]}},
        },
    }


def test_claims_are_ratios_of_means_with_intervals():
    performance = Performance.of([case_of("s", 0.6, 0.3), case_of("t", 0.2, 0.1)], (2,))
    rows = {row[0]: row[1:] for row in claims(performance, None, [], (2,), 0).rows}
    printed, here = rows["accuracy of klda-paper ÷ that of viral, top 2"]
    assert printed == "1.74"
    assert here == {"mean": 2.0, "low": 2.0, "high": 2.0}
    assert rows["coverage of klda-paper less that of viral, top 2"][1]["mean"] == -0.2
    assert performance.policies == (LITERAL, "viral", RANDOM)


def test_chance_is_the_mean_over_many_random_sets():
    table = Performance.of([case_of("s", 0.6, 0.3)], (2,)).table()
    chance = dict(zip(table.columns, table.rows[-1], strict=True))
    # of a, b, c, d the methods recommend a and b, so that the set holds no true word
    assert chance["accuracy, top 2"]["mean"] == 0.0
    assert np.isnan(Performance.of([case_of("s", 0.6, 0.3)], (2,)).ratio(RANDOM, "accuracy", 2).mean)
